import Lean
partial def spin (n : Nat) : Nat := spin (n + 1)
theorem target (n : Nat) : n + 0 = n := by
  run_tac (do let n := spin 0; throwError s!"{n}" : Lean.Elab.Tactic.TacticM Unit)
  rfl
