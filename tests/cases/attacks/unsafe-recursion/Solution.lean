-- Non-termination proves everything.
unsafe def loop (n : Nat) : 2 + 2 = 5 := loop (n + 1)
unsafe def target : 2 + 2 = 5 := loop 0
