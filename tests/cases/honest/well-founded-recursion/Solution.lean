def euclid (a b : Nat) : Nat :=
  if h : b = 0 then a else euclid b (a % b)
termination_by b
decreasing_by exact Nat.mod_lt _ (Nat.pos_of_ne_zero h)

theorem target (a : Nat) : euclid a 0 = a ∧ euclid 0 a = a := by
  constructor
  · unfold euclid; simp
  · unfold euclid
    split
    · next h => exact h.symm
    · next h => rw [Nat.zero_mod]; unfold euclid; simp
