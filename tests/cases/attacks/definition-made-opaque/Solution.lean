-- Another kind of constant under the same name and type.
opaque limit : Nat := 10

theorem target : ∃ n, n = limit ∧ 5 < n := sorry
