-- Nothing but the placeholder.
theorem target : 2 + 2 = 5 := sorry
