theorem target (n : Nat) (h : n % 4 = 3) : n % 2 = 1 ∧ (n / 4) * 4 < n := by omega
