def twice (n : Nat) : Nat := n + n
private theorem aux : twice 0 = 0 := rfl
theorem twice_zero : twice 0 = 0 := aux
