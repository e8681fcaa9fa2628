import Lean
open Lean

-- A numeric component cannot be typed by hand and is easily lost by a printer.
elab "assume_false" : term => do
  let name := Name.num `propext 0
  addDecl <| .axiomDecl
    { name, levelParams := [], type := mkConst ``False, isUnsafe := false }
  return mkConst name

theorem target : 2 + 2 = 5 := False.elim assume_false
