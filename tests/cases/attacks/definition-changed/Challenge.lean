def Even (n : Nat) : Prop := ∃ k, n = 2 * k

theorem target : Even 7 := sorry
