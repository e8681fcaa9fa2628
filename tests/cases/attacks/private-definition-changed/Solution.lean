import Mine

-- `limit` reads the same in both modules; the private `bound` does not.
theorem target : limit = 3 := rfl
