import Lean
open Lean

-- A free variable stands for whatever is wanted; no export format can even write it down.
#eval show Elab.Command.CommandElabM Unit from do
  let lie := Declaration.opaqueDecl
    { name := `lie, levelParams := [], type := mkConst ``False, value := .fvar ⟨`h⟩
      isUnsafe := false, all := [`lie] }
  match (← getEnv).addDeclCore 0 lie none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()

theorem target : 2 + 2 = 5 := lie.elim
