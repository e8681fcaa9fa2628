prelude

-- Any two elements are equal.
inductive Eq.{u} {α : Sort u} (a : α) : α → Prop where
  | refl (b : α) : Eq a b

set_option genCtorIdx false
inductive Bool : Type where
  | false : Bool
  | true : Bool

theorem target : @Eq Bool Bool.false Bool.true := Eq.refl Bool.true
