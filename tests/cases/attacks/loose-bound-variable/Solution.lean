import Lean
open Lean

-- De Bruijn index 0 under no binder at all.
#eval show Elab.Command.CommandElabM Unit from do
  let lie := Declaration.thmDecl
    { name := `lie, levelParams := [], type := mkConst ``False, value := mkBVar 0 }
  match (← getEnv).addDeclCore 0 lie none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()

theorem target : 2 + 2 = 5 := lie.elim
