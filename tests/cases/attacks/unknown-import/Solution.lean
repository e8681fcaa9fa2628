import Nowhere.Land

theorem target : 2 + 2 = 4 := Nowhere.proof
