theorem target (n : Nat) : n ≤ n + 1 := sorry
