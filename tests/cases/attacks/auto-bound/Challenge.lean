def Point := Nat × Nat

theorem target (p q : Point) : p = q := sorry
