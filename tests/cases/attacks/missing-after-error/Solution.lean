-- A stray bracket swallows the declaration.
def broken : Nat := (1 + (

theorem target : 2 + 2 = 4 := rfl
