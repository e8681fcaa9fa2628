/-! Messages as JSON. -/

namespace Lemmata
open Lean

/-- The kind given to errors that only the code generator made. -/
def compileOnlyKind : Name := `lemmata.compileOnly

/-- The longest text of one message, in characters. -/
def messageLimit : Nat := 20000

partial def firstChars (acc : String) (n : Nat) : List Char → String
  | [] => acc
  | c :: rest => if n == 0 then acc ++ " [...]" else firstChars (acc.push c) (n - 1) rest

def clip (s : String) : String :=
  if s.length > messageLimit then firstChars "" messageLimit s.toList else s

def positionJson (p : Position) : String :=
  "[" ++ toString p.line ++ "," ++ toString p.column ++ "]"

partial def dottedParts (acc : String) : Name → String
  | .anonymous => acc
  | .str .anonymous s => s ++ acc
  | .str p s => dottedParts ("." ++ s ++ acc) p
  | .num .anonymous n => toString n ++ acc
  | .num p n => dottedParts ("." ++ toString n ++ acc) p

/-- Dotted text for people, without guillemets. -/
def dotted (n : Name) : String := dottedParts "" n

def severityText : MessageSeverity → String
  | .information => "information"
  | .warning => "warning"
  | .error => "error"

/-- The tag `lemmata.compileOnly` anywhere on the spine of the message. -/
partial def isCompileOnly : MessageData → Bool
  | .withContext _ m => isCompileOnly m
  | .withNamingContext _ m => isCompileOnly m
  | .nest _ m => isCompileOnly m
  | .group m => isCompileOnly m
  | .tagged k m => k == compileOnlyKind || isCompileOnly m
  | _ => false

def messageJson (module : Name) (m : Message) : IO String := do
  let body ← m.data.toString
  let text := if m.caption == "" then body else m.caption ++ ":\n" ++ body
  let stop := match m.endPos with
    | some p => positionJson p
    | none => "null"
  pure ("{\"module\":" ++ nameJson module
    ++ ",\"severity\":\"" ++ severityText m.severity
    ++ "\",\"pos\":" ++ positionJson m.pos ++ ",\"end\":" ++ stop
    ++ ",\"kind\":" ++ quote (dotted m.data.kind)
    ++ ",\"text\":" ++ quote (clip text)
    ++ ",\"compile_only\":" ++ bool (isCompileOnly m.data) ++ "}")

end Lemmata
