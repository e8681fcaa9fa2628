-- The unfinished part is unused, but the term contains it.
theorem target (n : Nat) : n ≤ n + 1 := by
  have _unused : n * n = n + n := by sorry
  exact Nat.le_succ n
