import Lean
open Lean

-- `Sort u` where `u` is nobody's parameter, and a proof that leans on it.
#eval show Elab.Command.CommandElabM Unit from do
  let lie := Declaration.thmDecl
    { name := `lie, levelParams := [], type := mkConst ``False
      value := mkApp2 (mkConst ``id [.param `u]) (mkConst ``False) (mkConst ``True.intro) }
  match (← getEnv).addDeclCore 0 lie none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()

theorem target : 2 + 2 = 5 := lie.elim
