theorem target : @Eq Bool false true := sorry
