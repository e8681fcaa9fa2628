-- The error is in the lemma only.
theorem key : (2 : Nat) = 3 := by decide

theorem target : 2 + 2 = 5 := congrArg (2 + ·) key
