theorem target : (⟨2, by decide⟩ : Fin 3).val = 2 := sorry
