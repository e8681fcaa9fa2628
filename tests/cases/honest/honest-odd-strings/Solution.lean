theorem target : "\x00\x01\x7f\u2028\ufffe\uffff􏿿\"\\".length = 9 := by decide
