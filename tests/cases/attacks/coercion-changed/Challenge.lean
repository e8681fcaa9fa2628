theorem target (n : Nat) : (n : Int) = 0 := sorry
