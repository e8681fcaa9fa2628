theorem target : "aé" ++ "😀" = "aé😀" ∧ 'é'.toNat = 233 ∧ "abc".length = 3 := sorry
