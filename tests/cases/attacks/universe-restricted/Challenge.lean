theorem target.{u} (α : Type u) (x : α) : ∃ y : α, y = x := sorry
