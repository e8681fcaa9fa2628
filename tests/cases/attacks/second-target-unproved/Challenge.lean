theorem first (n : Nat) : n + 0 = n := sorry

theorem second (n : Nat) : n = n + 1 := sorry
