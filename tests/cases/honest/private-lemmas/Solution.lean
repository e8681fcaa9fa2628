private def helper (n : Nat) : Nat := n * 0

private theorem helper_zero (n : Nat) : helper n = 0 := rfl

theorem target (n : Nat) : n * 0 + n = n := by
  have h := helper_zero n
  unfold helper at h
  omega
