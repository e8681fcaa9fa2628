def bound : Nat := sorry

theorem target : bound = bound := sorry
