-- Commutativity is assumed where nobody looks.
structure Group where
  mul : Nat → Nat → Nat
  assoc : ∀ a b c, mul (mul a b) c = mul a (mul b c)
  comm : ∀ a b, mul a b = mul b a

theorem target (g : Group) (a b : Nat) : g.mul a b = g.mul b a := g.comm a b
