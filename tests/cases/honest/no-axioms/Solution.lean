theorem target (p q : Prop) : p → q → p := fun hp _ => hp
