/-! The request loop. -/

namespace Lemmata
open Lean

structure Worker where
  role : IO.Ref String
  cache : LibraryCache
  facts : FactCache

def newWorker : IO Worker := do
  pure {
    role := ← IO.mkRef "", cache := ← IO.mkRef [], facts := ← IO.mkRef ([], noFacts) }

def hello (w : Worker) (req : Json) : IO String := do
  let role ← asText "role" (← field req "role")
  let known ← w.role.get
  if role != "elaborator" && role != "kernel" then
    refuse ("role " ++ quote role ++ " is neither elaborator nor kernel")
  else if known != "" && known != role then
    refuse ("this process already is " ++ known)
  else
    if known == "" && role == "elaborator" then tolerateCompiler
    w.role.set role
    pure ("\"protocol\":1,\"lean\":" ++ quote versionString ++ ",\"githash\":" ++ quote githash
      ++ ",\"platform\":" ++ quote System.Platform.target)

def needRole (w : Worker) (role : String) (run : IO String) : IO String := do
  let known ← w.role.get
  if known == role then run
  else if known == "" then refuse "the first request must be hello"
  else refuse ("a process with the role " ++ known ++ " does not answer this request")

unsafe def answer (w : Worker) (req : Json) : IO String := do
  let op ← asText "op" (← field req "op")
  match op with
  | "hello" => hello w req
  | "elaborate" => needRole w "elaborator" (elaborate w.cache req)
  | "header" => needRole w "elaborator" (header req)
  | "replay" => needRole w "kernel" (replay w.cache req)
  | "describe" => needRole w "kernel" (describe w.cache w.facts req)
  | "export" => needRole w "kernel" (exportBase w.cache req)
  | _ => refuse ("unknown op " ++ quote op)

/-- One request line to one reply line. -/
unsafe def handle (w : Worker) (line : String) : IO String := do
  match Json.parse line with
  | .error _ => pure "- {\"id\":null,\"ok\":false,\"error\":\"the request is not JSON\"}"
  | .ok req => do
    let id := (field? req "id").compress
    let frame := match field? req "frame" with
      | .str s => s
      | _ => "-"
    try
      let body ← answer w req
      pure (frame ++ " {\"id\":" ++ id ++ ",\"ok\":true," ++ body ++ "}")
    catch e =>
      pure (frame ++ " {\"id\":" ++ id ++ ",\"ok\":false,\"error\":" ++ quote e.toString ++ "}")

/-- Answers requests until standard input ends. -/
partial def serve (answer : String → IO String) (input output : IO.FS.Stream) : IO Unit := do
  let line ← input.getLine
  if line == "" then pure () else do
    let reply ← answer line
    output.putStr ("\n" ++ reply ++ "\n")
    output.flush
    serve answer input output

/-- Everything worth having done before the first request: the default library, and one small
elaboration, so that the code it runs has been set up. -/
unsafe def warmUp (w : Worker) : IO Unit := do
  let _ ← library w.cache [`Init]
  let base ← library w.cache [`Init]
  let text := "theorem warm (a b : Nat) (h : a < b) : a + 1 ≤ b ∧ (true = true) := ⟨by omega, by simp⟩"
  let _ ← elaborateModules base (Elab.async.set {} false) {} [(`Warm, text)]
  pure ()

end Lemmata

open Lemmata in
/-- With `--snapshot` the launcher is told where the function that answers requests lies, so that a
copy of this process's memory can go on from there without this loop. -/
public unsafe def main (args : List String) : IO UInt32 := do
  let w ← newWorker
  let answer := handle w
  let input ← IO.getStdin
  let output ← IO.getStdout
  match args with
  | "--snapshot" :: _ => do
    warmUp w
    output.putStr ("LEMMATA-HANDLE " ++ toString (ptrAddrUnsafe answer).toNat ++ "\n")
    output.flush
  | _ => pure ()
  serve answer input output
  return 0
