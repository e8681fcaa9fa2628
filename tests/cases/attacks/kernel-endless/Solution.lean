import Lean
open Lean
noncomputable def flips : Bool := Nat.rec (motive := fun _ => Bool) true (fun _ b => Bool.rec true false b) 1000000000000
-- A million million flips, one inside the other, and then the kernel would say no.

#eval show Elab.Command.CommandElabM Unit from do
  let b := mkConst ``Bool
  let t := mkApp3 (mkConst ``Eq [.succ .zero]) b (mkConst `flips) (mkConst ``Bool.false)
  let p := mkApp2 (mkConst ``Eq.refl [.succ .zero]) b (mkConst ``Bool.false)
  match (← getEnv).addDeclCore 0 (.thmDecl { name := `target, levelParams := [], type := t, value := p }) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
