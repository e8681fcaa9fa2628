-- `default` of an empty type.
instance : Inhabited Empty := ⟨sorry⟩

theorem target : 2 + 2 = 5 := (default : Empty).elim
