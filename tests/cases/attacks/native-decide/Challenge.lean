theorem target : (List.range 50).length = 50 := sorry
