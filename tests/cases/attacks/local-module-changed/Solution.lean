import Mine

-- Same names, from another file.
theorem target : weight 3 = 0 := rfl
