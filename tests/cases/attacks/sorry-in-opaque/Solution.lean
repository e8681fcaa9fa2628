-- The value of an opaque constant never unfolds, but it must exist.
opaque oracle : 2 + 2 = 5 := sorry

theorem target : 2 + 2 = 5 := oracle
