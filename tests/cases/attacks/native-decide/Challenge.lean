theorem target : 3 ^ 7 % 10 = 7 := sorry
