-- The text differs in one word.
theorem target (n : Nat) : 0 ≤ n := Nat.zero_le n
