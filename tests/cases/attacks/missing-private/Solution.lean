-- Prints as `target`, and is not.
private theorem target : 2 + 2 = 4 := rfl
