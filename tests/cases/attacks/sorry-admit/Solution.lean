-- The other spelling of the placeholder.
theorem target : 2 + 2 = 5 := by admit
