import Shared
private theorem aux : twice 1 = 2 := rfl
theorem target : twice 1 = 2 := aux
