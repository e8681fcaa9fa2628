import Lean
open Lean

-- The fields have changed places, the projection node reads the same.
structure Pair where
  second : Nat
  first : Nat

elab "raw_first" : term => return .lam `p (mkConst ``Pair) (.proj ``Pair 0 (.bvar 0)) .default

def pick : Pair → Nat := raw_first

theorem target : pick { first := 1, second := 2 } = 2 := rfl
