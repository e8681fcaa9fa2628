import Lean
open Lean

-- The proof of `target` is `target`.
#eval show Elab.Command.CommandElabM Unit from do
  let record := Declaration.thmDecl
    { name := `target, levelParams := [], type := mkConst ``False, value := mkConst `target }
  match (← getEnv).addDeclCore 0 record none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
