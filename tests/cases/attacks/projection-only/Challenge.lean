import Lean
open Lean

structure Pair where
  first : Nat
  second : Nat

-- A raw projection node: the name of the structure is in the node and nowhere else in this term.
elab "raw_first" : term => return .lam `p (mkConst ``Pair) (.proj ``Pair 0 (.bvar 0)) .default

def pick : Pair → Nat := raw_first

theorem target : pick ⟨1, 2⟩ = 2 := sorry
