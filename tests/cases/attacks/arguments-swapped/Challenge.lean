theorem target (a b : Nat) (h : a ≤ b) : b ≤ a := sorry
