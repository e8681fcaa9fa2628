import Basic.Arithmetic

-- Nothing suspicious in this file.
theorem target : 2 + 2 = 5 := Arithmetic.two_add_two
