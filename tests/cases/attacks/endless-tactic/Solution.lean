import Lean
partial def spin (n : Nat) : Nat := spin (n + 1)
theorem target (n : Nat) : n + 0 = n := by
  run_tac (throwError s!"{spin 0}")
  rfl
