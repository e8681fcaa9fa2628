theorem target : ∀ a b : Fin 16, a.val * b.val = b.val * a.val := sorry
