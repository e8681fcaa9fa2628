import «/etc/passwd»
theorem target : 1 + 1 = 2 := rfl
