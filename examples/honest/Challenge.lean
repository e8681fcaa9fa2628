/-- The sum of the first `n` odd numbers. -/
def oddSum : Nat → Nat
  | 0 => 0
  | n + 1 => oddSum n + (2 * n + 1)

/-- It is a square. -/
theorem oddSum_eq (n : Nat) : oddSum n = n * n := sorry
