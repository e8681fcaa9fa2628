import Lean
open Lean

-- `False.intro` looks like a constructor and is an unchecked theorem.
#eval show Elab.Command.CommandElabM Unit from do
  let intro := Declaration.thmDecl
    { name := `False.intro, levelParams := [], type := mkConst ``False, value := mkConst ``True.intro }
  match (← getEnv).addDeclCore 0 intro none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()

theorem target : 2 + 2 = 5 := False.intro.elim
