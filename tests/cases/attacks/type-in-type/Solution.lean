import Lean
open Lean

-- The identity is claimed to lower a universe, which the kernel is not asked about.
#eval show Elab.Command.CommandElabM Unit from do
  let down := Declaration.defnDecl
    { name := `down, levelParams := [], hints := .abbrev, safety := .safe
      type := .forallE `a (.sort 2) (.sort 1) .default
      value := .lam `a (.sort 2) (.bvar 0) .default }
  match (← getEnv).addDeclCore 0 down none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()

set_option debug.skipKernelTC true in
theorem target : ∃ f : Type 1 → Type, ∀ a, ULift.{1} (f a) = a :=
  ⟨down, fun a => by unfold down; exact lcProof⟩
