import Lean
open Lean
def deep : Nat → Expr → Expr
  | 0, e => e
  | n+1, e => deep n (mkApp (mkConst `id1) e)
def id1 (n : Nat) : Nat := n
#eval show Elab.Command.CommandElabM Unit from do
  let n := mkConst ``Nat
  let z := deep 300000 (mkRawNatLit 0)
  let p := .letE `x (mkApp3 (mkConst ``Eq [.succ .zero]) n (mkRawNatLit 0) z) (mkApp2 (mkConst ``Eq.refl [.succ .zero]) n (mkRawNatLit 0)) (mkConst ``True.intro) false
  match (← getEnv).addDeclCore 0 (.thmDecl { name := `target, levelParams := [], type := mkConst ``True, value := p }) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
