-- Three private steps away.
private theorem third : False := by sorry
private theorem second : False := third
private theorem first : False := second

theorem target : 2 + 2 = 5 := first.elim
