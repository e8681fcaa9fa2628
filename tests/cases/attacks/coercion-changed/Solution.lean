-- The arrow in `(n : Int)` is this instance.
instance (priority := high) (n : Nat) : CoeT Nat n Int := ⟨(0 : Int)⟩

theorem target (n : Nat) : (n : Int) = 0 := rfl
