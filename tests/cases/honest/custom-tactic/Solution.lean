import Lean
open Lean Elab Tactic

elab "my_assumption" : tactic => do
  evalTactic (← `(tactic| assumption))

theorem target (p : Prop) (h : p) : p := by my_assumption
