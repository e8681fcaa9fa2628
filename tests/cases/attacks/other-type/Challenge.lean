theorem target (n : Int) : 0 ≤ n := sorry
