def double (n : Nat) : Nat := 2 * n
