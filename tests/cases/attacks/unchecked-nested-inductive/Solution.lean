import Lean
open Lean

-- The nested occurrence passes `Wrap` a parameter that has the wrong universe.
inductive Wrap (α : Type) : Type where
  | mk : α → Wrap α

#eval show Elab.Command.CommandElabM Unit from do
  let tree : InductiveType :=
    { name := `Tree, type := .sort 1
      ctors := [{ name := `Tree.node
                  type := .forallE `t (mkApp (mkConst ``Wrap) (mkConst `Tree))
                    (mkConst `Tree) .default }] }
  match (← getEnv).addDeclCore 0 (.inductDecl [] 0 [tree] false) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
#print Tree
#check @Tree.rec
