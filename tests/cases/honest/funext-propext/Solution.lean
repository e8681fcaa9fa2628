theorem target (p q : Nat → Prop) (h : ∀ n, p n ↔ q n) : p = q :=
  funext fun n => propext (h n)
