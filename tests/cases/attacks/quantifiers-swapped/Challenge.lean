theorem target : ∃ m : Nat, ∀ n : Nat, n ≤ m := sorry
