/-! What a module imports. -/

namespace Lemmata
open Lean

def isFound (module : Name) : IO Bool := do
  try
    let path ← findOLean module
    path.pathExists
  catch _ => pure false

partial def importTexts (acc : List String) : List Import → IO (List String)
  | [] => pure (reverse acc)
  | i :: rest => do
    let text := "{\"module\":" ++ nameJson i.module ++ ",\"all\":" ++ bool i.importAll
      ++ ",\"meta\":" ++ bool i.isMeta ++ ",\"found\":" ++ bool (← isFound i.module) ++ "}"
    importTexts (text :: acc) rest

partial def firstError : List Message → Option Message
  | [] => none
  | m :: rest =>
    match m.severity with
    | .error => some m
    | _ => firstError rest

/-- Parses the header of a source text; nothing of the text is run. A header with an error has no
imports. -/
def header (req : Json) : IO String := do
  let text ← asText "text" (← field req "text")
  let (stx, _, log) ← Parser.parseHeader (Compat.inputContext text "header")
  let (imports, problem) ← match firstError log.toList with
    | none => do
      let imports ← importTexts [] (Compat.headerImports stx).toList
      pure (array imports, "null")
    | some m => do
      let why ← m.data.toString
      pure ("[]", "{\"pos\":" ++ positionJson m.pos ++ ",\"text\":" ++ quote (clip why) ++ "}")
  pure ("\"imports\":" ++ imports ++ ",\"prelude\":" ++ bool (Compat.headerIsPrelude stx)
    ++ ",\"module\":" ++ bool (Compat.headerIsModule stx) ++ ",\"error\":" ++ problem)

end Lemmata
