import Lean
open Lean

-- Every axiom is a fault of its own; a judge that traces each one takes time with the square of their number.
def declare : Nat → Environment → Environment
  | 0, env => env
  | n+1, env =>
    match env.addDeclCore 0 (.axiomDecl { name := .num `bad n, levelParams := [], type := mkConst ``True, isUnsafe := false }) none (doCheck := false) with
    | .ok env => declare n env
    | .error _ => env
def chain : Nat → Expr → Expr
  | 0, e => e
  | n+1, e => chain n (.letE `x (mkConst ``True) (mkConst (.num `bad n)) e false)
#eval show Elab.Command.CommandElabM Unit from do
  let env := declare 4000 (← getEnv)
  let value := chain 4000 (mkConst ``True.intro)
  match env.addDeclCore 0 (.thmDecl { name := `target, levelParams := [], type := mkConst ``True, value := value }) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
