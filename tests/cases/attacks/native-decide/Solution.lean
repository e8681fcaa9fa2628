-- True, but by evaluation of compiled code and not by the kernel.
theorem target : (List.range 50).length = 50 := by native_decide
