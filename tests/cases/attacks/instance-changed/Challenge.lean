structure Box where
  value : Nat

instance Box.order : LE Box := ⟨fun a b => a.value ≤ b.value⟩

theorem target (a b : Box) : a ≤ b := sorry
