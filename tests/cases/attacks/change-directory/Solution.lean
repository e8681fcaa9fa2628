#eval IO.Process.setCurrentDir "/"
theorem target : 1 + 1 = 2 := rfl
