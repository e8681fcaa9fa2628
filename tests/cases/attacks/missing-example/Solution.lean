-- An example has no name.
example : 2 + 2 = 4 := rfl
