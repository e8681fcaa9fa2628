opaque secret : Nat := 41

theorem target : ∃ n, n = secret := sorry
