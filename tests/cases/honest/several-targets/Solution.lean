theorem second (n : Nat) : 0 + n = n := Nat.zero_add n
theorem first (n : Nat) : n + 0 = n := rfl
theorem third (n : Nat) : 0 + n + 0 = n := (first _).trans (second n)
