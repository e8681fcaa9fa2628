def limit : Nat := 10

theorem target : ∃ n, n = limit := sorry
