theorem target : ∀ a b : Nat, a + b = b + a := fun m n => Nat.add_comm m n
