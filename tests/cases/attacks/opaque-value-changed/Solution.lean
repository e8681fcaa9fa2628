-- The value is invisible to unification, and part of the challenge all the same.
opaque secret : Nat := 42

theorem target : ∃ n, n = secret := ⟨secret, rfl⟩
