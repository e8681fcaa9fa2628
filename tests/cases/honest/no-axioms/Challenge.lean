theorem target (p q : Prop) : p → q → p := sorry
