theorem target : 2 + 2 = 4 := sorry
