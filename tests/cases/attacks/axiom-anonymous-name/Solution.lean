import Lean
open Lean

-- The anonymous name is a legal name for a constant as far as the kernel is concerned.
elab "assume_false" : term => do
  addDecl <| .axiomDecl
    { name := .anonymous, levelParams := [], type := mkConst ``False, isUnsafe := false }
  return mkConst .anonymous

theorem target : 2 + 2 = 5 := False.elim assume_false
