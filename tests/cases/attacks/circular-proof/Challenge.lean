theorem target : False := sorry
