def Odd (n : Nat) : Prop := ∃ k, n = 2 * k + 1

theorem target (n : Nat) : Odd n := sorry
