-- One component.
theorem «Sum.target» : 2 + 2 = 4 := rfl
