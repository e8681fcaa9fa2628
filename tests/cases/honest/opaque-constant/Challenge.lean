opaque secret : Nat := 42
theorem target : secret + 0 = secret := sorry
