prelude

-- A world in which the successor is the identity.
inductive Eq.{u} {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a

inductive Nat where
  | zero : Nat

def Nat.succ (n : Nat) : Nat := n

theorem target : @Eq Nat Nat.zero (Nat.succ Nat.zero) := Eq.refl Nat.zero
