theorem target (n : Nat) : 0 < n := sorry
