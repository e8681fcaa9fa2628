noncomputable def pick (p : Nat → Prop) (h : ∃ n, p n) : Nat := Classical.choose h
theorem target (p : Nat → Prop) (h : ∃ n, p n) : p (pick p h) := sorry
