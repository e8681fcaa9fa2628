import Shared
theorem other : 2 + 2 = 4 := rfl
