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

set_option debug.skipKernelTC true

theorem by_definition (n m : Nat) : @Eq Nat (Nat.add n m) Nat.zero := Eq.refl Nat.zero

def IsZero (n : Nat) : Prop :=
  @Nat.rec (fun _ => Prop) (@Eq Nat n n) (fun _ _ => False) n

-- `IsZero 4` is False by computation, `IsZero (Nat.add 2 2)` holds by definition.
theorem target : False := (Eq.refl (Nat.add 2 2) : IsZero (Nat.add 2 2))
