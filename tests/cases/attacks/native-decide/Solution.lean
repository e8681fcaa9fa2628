-- True, but by evaluation of compiled code and not by the kernel.
theorem target : 3 ^ 7 % 10 = 7 := by native_decide
