-- Read to the end of the declaration.
theorem target : 2 + 2 = 5 := step 2
where
  step (n : Nat) : n + 2 = n + 3 := sorry
