-- The literal 5 is looked up through `OfNat`.
instance (priority := high) : OfNat Nat 5 := ⟨Nat.succ 3⟩

theorem target : 2 + 2 = 5 := rfl
