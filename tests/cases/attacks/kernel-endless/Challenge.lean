noncomputable def flips : Bool := Nat.rec (motive := fun _ => Bool) true (fun _ b => Bool.rec true false b) 1000000000000
theorem target : flips = false := sorry
