theorem target : ∀ a b : Fin 64, a.val + b.val = b.val + a.val := sorry
