prelude

-- By its definition the sum is zero; by a kernel's own arithmetic it is four.
set_option genCtorIdx false

inductive False : Prop where

inductive Eq.{u} {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a

inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat

def Nat.add (_ _ : Nat) : Nat := Nat.zero

class OfNat.{u} (α : Type u) (n : Nat) where
  ofNat : α

instance instOfNat (n : Nat) : OfNat Nat n where
  ofNat := n

def IsZero (n : Nat) : Prop :=
  @Nat.rec (fun _ => Prop) (@Eq Nat n n) (fun _ _ => False) n

theorem by_definition (n m : Nat) : IsZero (Nat.add n m) := Eq.refl Nat.zero

-- `IsZero (Nat.add 2 2)` is `IsZero 4` for a kernel that adds by itself, and that is False.
theorem target : False := by_definition 2 2
