def double (n : Nat) : Nat := n + n

theorem target : double 3 = 7 := sorry
