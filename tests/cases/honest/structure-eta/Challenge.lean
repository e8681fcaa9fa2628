structure Point where
  x : Nat
  y : Nat

theorem target (p : Point) : (⟨p.x, p.y⟩ : Point) = p := sorry
