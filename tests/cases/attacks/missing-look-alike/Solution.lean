-- The second letter is U+0430.
theorem tаrget : 2 + 2 = 4 := rfl
