-- Everything after `stop` is skipped.
theorem target : 2 + 2 = 5 := by
  show 4 = 5
  stop
  exact absurd rfl (by decide)
