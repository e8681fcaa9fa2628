theorem target (p : Prop) : p ∨ ¬p := sorry
