import Solution
theorem target : 1 + 1 = 2 := rfl
