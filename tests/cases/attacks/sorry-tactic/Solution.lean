-- A step that looks like work, then the placeholder.
theorem target : 2 + 2 = 5 := by
  show 4 = 5
  sorry
