-- From here on `a + b` means the successor of the sum.
macro_rules | `($a + $b) => `(Nat.succ (Nat.add $a $b))

theorem target : 2 + 2 = 5 := rfl
