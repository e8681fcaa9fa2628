def one : Nat := 1
