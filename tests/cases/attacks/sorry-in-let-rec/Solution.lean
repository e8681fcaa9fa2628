-- The induction is fine except for its base case.
theorem target : 2 + 2 = 5 := by
  let rec go : (n : Nat) → n + 2 = n + 3
    | 0 => sorry
    | n + 1 => congrArg (· + 1) (go n)
  exact go 2
