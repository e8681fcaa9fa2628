-- The right type and value, the wrong kind of declaration.
def target : 2 + 2 = 4 := rfl
