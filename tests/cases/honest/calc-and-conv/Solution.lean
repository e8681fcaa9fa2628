theorem target (a b c : Nat) (h : a = b) (g : b = c) : a + b = c + c := by
  conv => lhs; rw [h, g]
