import Lean
open Lean

-- The lemma enters the environment without ever being type-checked.
#eval show Elab.Command.CommandElabM Unit from do
  let lie := Declaration.thmDecl
    { name := `lie, levelParams := [], type := mkConst ``False, value := mkConst ``True.intro }
  match (← getEnv).addDeclCore 0 lie none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()

theorem target : 2 + 2 = 5 := lie.elim
