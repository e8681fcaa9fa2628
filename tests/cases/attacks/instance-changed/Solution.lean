-- The order relates everything to everything.
structure Box where
  value : Nat

instance Box.order : LE Box := ⟨fun _ _ => True⟩

theorem target (a b : Box) : a ≤ b := trivial
