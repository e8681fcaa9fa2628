-- No tactic: the axiom is applied by hand.
def nine : Bool := Nat.ble 7 9

theorem target : Nat.ble 7 9 = true := Lean.ofReduceBool nine true rfl
