-- Assumed, not proved.
axiom help : 2 + 2 = 5

theorem target : 2 + 2 = 5 := help
