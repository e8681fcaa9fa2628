/-- The sum of the first `n` odd numbers. -/
def oddSum : Nat → Nat
  | 0 => 0
  | n + 1 => oddSum n + (2 * n + 1)

-- The step that does the work is left out.
theorem succ_square (n : Nat) : (n + 1) * (n + 1) = n * n + (2 * n + 1) := by
  sorry

/-- It is a square. -/
theorem oddSum_eq (n : Nat) : oddSum n = n * n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [oddSum, ih, succ_square]
