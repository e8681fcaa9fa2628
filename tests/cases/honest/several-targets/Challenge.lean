theorem first (n : Nat) : n + 0 = n := sorry
theorem second (n : Nat) : 0 + n = n := sorry
theorem third (n : Nat) : 0 + n + 0 = n := sorry
