theorem target : ∀ x y : Nat, x + y = y + x := sorry
