theorem target : "aé" ++ "😀" = "aé😀" ∧ 'é'.toNat = 233 ∧ "abc".length = 3 := by
  refine ⟨?_, ?_, ?_⟩ <;> decide
