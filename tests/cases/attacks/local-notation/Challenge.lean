theorem target : 3 ∣ 7 := sorry
