import Lean
open Lean
-- A kernel that takes C strings would see an equality.
#eval show Elab.Command.CommandElabM Unit from do
  let s := mkStrLit "a"
  let t := mkApp3 (mkConst ``Eq [.succ .zero]) (mkConst ``String) (mkStrLit "a\x00b") s
  let p := mkApp2 (mkConst ``Eq.refl [.succ .zero]) (mkConst ``String) s
  match (← getEnv).addDeclCore 0 (.thmDecl { name := `target, levelParams := [], type := t, value := p }) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
