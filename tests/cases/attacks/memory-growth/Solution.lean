theorem target (n : Nat) : n + 0 = n := rfl

partial def grow (l : List Nat) (n : Nat) : Nat := if n == 0 then l.head! else grow (n :: l) (n + 1)
#eval grow [] 1
