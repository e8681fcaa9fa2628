-- The second goal is never closed.
theorem target (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  · exact hp
