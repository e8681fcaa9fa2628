theorem target (n : Nat) : n + 0 = n := rfl

def fill (n : Nat) : Nat := (Array.replicate n n).size
#eval fill 1000000000
