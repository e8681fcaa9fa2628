theorem helper : (⟨2, by decide⟩ : Fin 3).val = 2 := rfl
theorem target : (⟨2, by decide⟩ : Fin 3).val = 2 := helper
