-- Not polymorphic.
theorem target (α : Type) (x : α) : ∃ y : α, y = x := ⟨x, rfl⟩
