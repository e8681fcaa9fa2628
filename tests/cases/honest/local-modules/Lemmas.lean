import Shared.Defs
theorem double_eq (n : Nat) : double n = n + n := Nat.two_mul n
