theorem target : ∃ f : Type 1 → Type, ∀ a, ULift.{1} (f a) = a := sorry
