private def two : Nat := 2
theorem target : two = 2 := rfl
