def large : Nat := 38
theorem target : 37 < large := by decide
