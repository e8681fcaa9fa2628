/- The comment is not closed on this line.
theorem target : 2 + 2 = 4 := rfl
-/
