import Defs

theorem target : limit = 3 := sorry
