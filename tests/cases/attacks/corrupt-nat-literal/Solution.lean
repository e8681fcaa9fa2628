import Lean
open Lean

-- Numbers beyond the machine word share one representation, so the cast keeps the sign.
unsafe def minus : Int := -(2 ^ 100)
unsafe def negative : Nat := unsafeCast minus
unsafe def corrupt : Expr := .lit (.natVal negative)
@[implemented_by corrupt] opaque literal : Expr

elab "below_zero" : term => return literal

def bad : Nat := below_zero

-- By the library a sum is at least its second summand; by calculation this one is not.
theorem target : 2 + 2 = 5 :=
  absurd (Nat.le_add_left (2 ^ 101) bad) (by decide +kernel)
