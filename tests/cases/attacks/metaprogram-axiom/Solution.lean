import Lean
open Lean

-- An assumption without the keyword: the term elaborator declares it and then uses it.
elab "assume_false" : term => do
  addDecl <| .axiomDecl
    { name := `helper, levelParams := [], type := mkConst ``False, isUnsafe := false }
  return mkConst `helper

theorem target : 2 + 2 = 5 := False.elim assume_false
