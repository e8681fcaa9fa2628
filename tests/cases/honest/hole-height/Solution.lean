def one : Nat := 1
def two : Nat := one + 1
def N : Nat := two + 1
def M : Nat := N + 1
theorem target : M = 4 := rfl
