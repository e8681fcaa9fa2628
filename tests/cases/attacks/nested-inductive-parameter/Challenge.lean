theorem target : ∃ (t : Type) (x : t), x = x := sorry
