theorem target (xs ys : List Nat) : (xs ++ ys).length = ys.length + xs.length := by
  simp [Nat.add_comm]
