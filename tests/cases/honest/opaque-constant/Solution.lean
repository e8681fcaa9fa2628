opaque secret : Nat := 42
theorem target : secret + 0 = secret := Nat.add_zero secret
