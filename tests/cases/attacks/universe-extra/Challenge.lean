theorem target (p : Prop) (h : p) : p := sorry
