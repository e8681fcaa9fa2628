import Lean
open Lean

inductive Wrap (α : Type) (n : Nat) : Type where
  | mk : α → Wrap α n

-- `Wrap Tree True.intro`: the second parameter should be a number.
#eval show Elab.Command.CommandElabM Unit from do
  let field := mkApp2 (mkConst ``Wrap) (mkConst `Tree) (mkConst ``True.intro)
  let tree : InductiveType :=
    { name := `Tree, type := .sort 1
      ctors := [⟨`Tree.leaf, mkConst `Tree⟩,
        ⟨`Tree.node, .forallE `t field (mkConst `Tree) .default⟩] }
  match (← getEnv).addDeclCore 0 (.inductDecl [] 0 [tree] false) none with
  | .ok env => setEnv env
  | .error _ => pure ()

theorem target : ∃ (t : Type) (x : t), x = x := ⟨Tree, Tree.leaf, rfl⟩
