def slow (n : Nat) : Bool := n == 0

theorem target : slow 3 = true := sorry
