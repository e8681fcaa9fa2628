/- A comment that opens here and never ends.

theorem target : 2 + 2 = 4 := rfl
