-- The name and the type are right, the kind is not.
axiom target : 2 + 2 = 5
