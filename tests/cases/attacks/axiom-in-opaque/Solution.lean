-- A walk that skips the values of opaque constants sees no axiom.
axiom hidden : 2 + 2 = 5
opaque oracle : 2 + 2 = 5 := hidden

theorem target : 2 + 2 = 5 := oracle
