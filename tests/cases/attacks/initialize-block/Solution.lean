initialize counter : IO.Ref Nat ← IO.mkRef 0
theorem target : 2 + 2 = 5 := sorry
