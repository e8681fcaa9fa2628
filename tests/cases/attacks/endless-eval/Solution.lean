theorem target (n : Nat) : n + 0 = n := rfl

partial def spin (n : Nat) : Nat := spin (n + 1)
#eval spin 0
