-- No value at all.
axiom large : Nat

theorem target : ∃ n, n = large := ⟨large, rfl⟩
