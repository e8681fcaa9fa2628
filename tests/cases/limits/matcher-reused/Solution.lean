theorem helper (n : Nat) : (match n with | 0 => 0 | k+1 => k) ≤ n := by
  cases n with
  | zero => exact Nat.le_refl _
  | succ k => exact Nat.le_succ k
theorem target (n : Nat) : (match n with | 0 => 0 | k+1 => k) ≤ n := helper n
