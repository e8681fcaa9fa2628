/-- The sum of the first `n` odd numbers. -/
def oddSum : Nat → Nat
  | 0 => 0
  | n + 1 => oddSum n + (2 * n + 1)

theorem succ_square (n : Nat) : (n + 1) * (n + 1) = n * n + (2 * n + 1) := by
  simp only [Nat.add_mul, Nat.mul_add]
  omega

/-- It is a square. -/
theorem oddSum_eq (n : Nat) : oddSum n = n * n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [oddSum, ih, succ_square]
