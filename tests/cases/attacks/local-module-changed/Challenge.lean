import Defs

theorem target : weight 3 = 0 := sorry
