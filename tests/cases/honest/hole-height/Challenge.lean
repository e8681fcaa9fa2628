def N : Nat := sorry
def M : Nat := N + 1
theorem target : M = 4 := sorry
