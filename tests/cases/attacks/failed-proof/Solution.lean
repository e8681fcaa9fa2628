-- An error is reported, and `target` exists all the same.
theorem target : 2 + 2 = 5 := by simp
