namespace A
section
variable (n : Nat)
theorem target : 1 + 1 = 2 := rfl
