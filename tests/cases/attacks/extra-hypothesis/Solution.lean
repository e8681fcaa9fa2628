-- With the assumption it is easy.
theorem target (n : Nat) (h : n ≠ 0) : 0 < n := Nat.pos_of_ne_zero h
