prelude

-- By its definition the sum is zero; by the kernel's own arithmetic it is four.
inductive False : Prop where

inductive Eq.{u} {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a

inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat

def Nat.add (_ _ : Nat) : Nat := Nat.zero

theorem by_definition (n m : Nat) : Eq (Nat.add n m) Nat.zero := Eq.refl Nat.zero
theorem by_arithmetic : Eq (Nat.add (nat_lit 2) (nat_lit 2)) (nat_lit 4) := Eq.refl (nat_lit 4)

def IsZero : Nat → Prop := fun n => Nat.rec (motive := fun _ => Prop) (∀ p : Prop, p → p) (fun _ _ => False) n

theorem target : False :=
  Eq.rec (motive := fun n _ => IsZero n)
    (Eq.rec (motive := fun n _ => IsZero n → IsZero n) (fun h => h) (by_definition (nat_lit 2) (nat_lit 2))
      (fun _ h => h))
    by_arithmetic
