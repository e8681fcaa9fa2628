theorem target : 10 ^ 3 = 1000 := sorry
