-- A proposition that is a placeholder, and a proof of it that is one too.
def Claim : Prop := sorry
theorem claim : Claim := sorry
theorem bridge (_ : Claim) : 2 + 2 = 5 := sorry

theorem target : 2 + 2 = 5 := bridge claim
