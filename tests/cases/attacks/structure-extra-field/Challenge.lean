structure Group where
  mul : Nat → Nat → Nat
  assoc : ∀ a b c, mul (mul a b) c = mul a (mul b c)

theorem target (g : Group) (a b : Nat) : g.mul a b = g.mul b a := sorry
