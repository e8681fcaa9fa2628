-- For every n there is an m; not one m for all n.
theorem target : ∀ n : Nat, ∃ m : Nat, n ≤ m := fun n => ⟨n, Nat.le_refl n⟩
