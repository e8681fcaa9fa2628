-- A proof of a proposition that nobody knows.
def Claim : Prop := sorry

theorem target : Claim := sorry
