axiom Point : Type
axiom dist : Point → Point → Nat
axiom dist_self : ∀ p, dist p p = 0
theorem target (p : Point) : dist p p + 1 = 1 := sorry
