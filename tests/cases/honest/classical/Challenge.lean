theorem target (p : Nat → Prop) : (∃ n, p n) ∨ ∀ n, ¬ p n := sorry
