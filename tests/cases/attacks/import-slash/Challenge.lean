theorem target : 1 + 1 = 2 := sorry
