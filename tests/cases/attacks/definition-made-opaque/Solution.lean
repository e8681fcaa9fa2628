-- Another kind of constant under the same name and type; it no longer unfolds.
opaque limit : Nat := 10

theorem target : ∃ n, n = limit := ⟨limit, rfl⟩
