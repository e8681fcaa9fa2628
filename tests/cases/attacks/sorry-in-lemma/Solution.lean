-- Only the lemma is unfinished.
theorem key (n : Nat) : n + 2 = n + 3 := sorry

theorem target : 2 + 2 = 5 := key 2
