-- A walk over values alone does not meet the axiom.
axiom Hidden : Nat
structure Box : Type where
  content : Nat
  same : content = Hidden → True

theorem target : ∃ n : Nat, n = n := ⟨(Box.mk 0 fun _ => trivial).content, rfl⟩
