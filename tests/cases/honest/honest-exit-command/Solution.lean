theorem target : 1 + 1 = 2 := rfl
#exit
this is not Lean
