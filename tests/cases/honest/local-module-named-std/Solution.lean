import Std
theorem target : one = 1 := rfl
