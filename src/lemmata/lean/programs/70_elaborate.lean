/-! Elaborating modules, one after another, into one environment. -/

namespace Lemmata
open Lean

def optionValue (name : Name) : Json → IO DataValue
  | .bool b => pure (.ofBool b)
  | .str s => pure (.ofString s)
  | j =>
    match j.getNat? with
    | .ok n => pure (.ofNat n)
    | .error _ => refuse ("option " ++ dotted name ++ " must be a boolean, a natural number or a string")

partial def setOptions (opts : Options) : List (String × Json) → IO Options
  | [] => pure opts
  | (key, value) :: rest => do
    let name := key.toName
    let v ← optionValue name value
    setOptions (Compat.setOption opts name v) rest

partial def eachExtension (f : ScopedEnvExtension EnvExtensionEntry EnvExtensionEntry EnvExtensionState
    → Environment → Environment) (env : Environment) :
    List (ScopedEnvExtension EnvExtensionEntry EnvExtensionEntry EnvExtensionState) → Environment
  | [] => env
  | ext :: rest => eachExtension f (f ext env) rest

def openScope (env : Environment) : IO Environment := do
  let exts ← scopedEnvExtensionsRef.get
  pure (eachExtension (@ScopedEnvExtension.pushScope _ _ _) env exts.toList)

/-- Closes as many scopes of the extensions as the module left open. -/
partial def closeScopes (env : Environment) (n : Nat) : IO Environment := do
  if n == 0 then pure env else do
    let exts ← scopedEnvExtensionsRef.get
    closeScopes (eachExtension (@ScopedEnvExtension.popScope _ _ _) env exts.toList) (n - 1)

/-- Messages of one command, in order; `Nat` counts those that no longer fit. -/
structure Log where
  items : List String := []
  errors : Nat := 0
  others : Nat := 0
  dropped : Nat := 0

/-- The most errors, and the most other messages, that one request keeps: nothing else can crowd an
error out. -/
def messageCount : Nat := 1000

def isError (m : Message) : Bool :=
  match m.severity with
  | .error => !isCompileOnly m.data
  | _ => false

def before (a b : Message) : Bool :=
  if a.pos.line == b.pos.line then a.pos.column < b.pos.column else a.pos.line < b.pos.line

/-- Inserts from the end: the messages of a command come nearly sorted. -/
partial def insertMessage (m : Message) (after : List Message) : List Message → List Message
  | [] => m :: after
  | x :: xs => if before m x then insertMessage m (x :: after) xs else turnInto (m :: x :: xs) after
where
  turnInto (acc : List Message) : List Message → List Message
    | [] => acc
    | y :: ys => turnInto (y :: acc) ys

/-- Latest position first. -/
partial def sortMessages (acc : List Message) : List Message → List Message
  | [] => acc
  | m :: rest => sortMessages (insertMessage m [] acc) rest

partial def logMessages (module : Name) (log : Log) : List Message → IO Log
  | [] => pure log
  | m :: rest =>
    if m.isSilent then logMessages module log rest
    else if isError m && log.errors < messageCount then do
      let text ← messageJson module m
      logMessages module { log with items := text :: log.items, errors := log.errors + 1 } rest
    else if !isError m && log.others < messageCount then do
      let text ← messageJson module m
      logMessages module { log with items := text :: log.items, others := log.others + 1 } rest
    else
      logMessages module { log with dropped := log.dropped + 1 } rest

partial def gatherLog (acc : List Message) : List Message → List Message
  | [] => acc
  | m :: rest => gatherLog (m :: acc) rest

/-- The messages of a snapshot tree, latest first, with an explicit stack. -/
partial def gatherTasks (acc : List Message) :
    List (Language.SnapshotTask Language.SnapshotTree) → List Message
  | [] => acc
  | t :: rest =>
    let tree := t.task.get
    gatherTasks (gatherLog acc tree.element.diagnostics.msgLog.toList) (prepend rest tree.children.toList)
where
  prepend (tail : List (Language.SnapshotTask Language.SnapshotTree)) :
      List (Language.SnapshotTask Language.SnapshotTree) → List (Language.SnapshotTask Language.SnapshotTree)
    | [] => tail
    | x :: xs => x :: prepend tail xs

def commandMessages (parsed : MessageLog) (st : Elab.Command.State) : List Message :=
  let all := gatherTasks (gatherLog (gatherLog [] parsed.toList) st.messages.toList)
    st.snapshotTasks.toList
  reverse (sortMessages [] (reverse all))

/-- Runs one command in a state; what escapes it becomes a message. -/
def runCommand (ictx : Parser.InputContext) (pos : String.Pos.Raw) (stx : Syntax)
    (st : Elab.Command.State) : IO Elab.Command.State := do
  let ref ← IO.mkRef st
  let ctx := Compat.commandContext ictx pos
  match ← (Elab.Command.elabCommandTopLevel stx ctx ref).toBaseIO with
  | .ok _ => ref.get
  | .error e => do
    let st ← ref.get
    let text ← e.toMessageData.toString
    let m : Message := {
      fileName := ictx.fileName, pos := ictx.fileMap.toPosition pos
      data := MessageData.ofFormat text }
    pure { st with messages := st.messages.add m }

partial def commands (module : Name) (ictx : Parser.InputContext) (ps : Parser.ModuleParserState)
    (st : Elab.Command.State) (log : Log) : IO (Elab.Command.State × Log) := do
  let scope := match st.scopes with
    | s :: _ => s
    | [] => { header := "" }
  let pmctx : Parser.ParserModuleContext := {
    env := st.env, options := scope.opts
    currNamespace := scope.currNamespace, openDecls := scope.openDecls }
  let pos := ps.pos
  let (stx, ps, parsed) := Parser.parseCommand ictx pmctx ps {}
  let st ← runCommand ictx pos stx { st with messages := {}, snapshotTasks := #[], traceState := {}
                                             infoState := { enabled := true } }
  let log ← logMessages module log (commandMessages parsed st)
  if Parser.isTerminalCommand stx then pure (st, log) else commands module ictx ps st log

def elaborateModule (base : Environment) (opts : Options) (module : Name) (text : String)
    (log : Log) : IO (Environment × Log) := do
  let ictx := Compat.inputContext text (dotted module ++ ".lean")
  let (_, ps, parsed) ← Parser.parseHeader ictx
  let log ← logMessages module log (reverse (sortMessages [] parsed.toList))
  let env ← openScope (Compat.setModule base module)
  let st := Elab.Command.mkState env {} opts
  let (st, log) ← commands module ictx ps { st with infoState := { enabled := true } } log
  let env ← closeScopes st.env (count 0 st.scopes)
  pure (env, log)

partial def elaborateModules (env : Environment) (opts : Options) (log : Log) :
    List (Name × String) → IO (Environment × Log)
  | [] => pure (env, log)
  | (module, text) :: rest => do
    let (env, log) ← elaborateModule env opts module text log
    elaborateModules env opts log rest

partial def isModule (name : Name) : List (Name × String) → Bool
  | [] => false
  | (m, _) :: rest => m == name || isModule name rest

/-- Private names carry the module's name, so two modules of one name cannot be told apart. -/
partial def modulesOf (acc : List (Name × String)) : List Json → IO (List (Name × String))
  | [] => pure (reverse acc)
  | j :: rest => do
    let name ← asName "a module's name" (← field j "module")
    let text ← asText "a module's text" (← field j "text")
    if isModule name acc then refuse ("the module " ++ dotted name ++ " is given twice")
    else modulesOf ((name, text) :: acc) rest

/-- Logs an error of the code generator with a tag. -/
def logCompileOnly (e : Exception) (text : String) : CoreM Unit := do
  let ctx ← read
  let pos := ctx.fileMap.toPosition ((e.getRef.getPos?.orElse fun _ => ctx.ref.getPos?).getD 0)
  let m : Message := {
    fileName := ctx.fileName, pos := pos, data := .tagged compileOnlyKind (.ofFormat text) }
  modifyThe Core.State fun s => { s with messages := s.messages.add m }

/-- The most functions that are supplied for the code of one declaration. -/
def supplyLimit : Nat := 64

/-- Lets code generation fail without failing the declaration: the environment is as it was, but
for what was supplied to the next attempt. -/
partial def compileTolerantly (compile : Array Name → CoreM Unit) (tries : Nat)
    (names : Array Name) : CoreM Unit := do
  let env ← getEnv
  try compile names
  catch e => do
    setEnv env
    let text ← e.toMessageData.toString
    if tries == 0 then logCompileOnly e text
    else if ← Compat.supplyCode text then compileTolerantly compile (tries - 1) names
    else logCompileOnly e text

def tolerateCompiler : IO Unit := do
  let compile ← compileDeclsRef.get
  compileDeclsRef.set (compileTolerantly compile supplyLimit)

def optionPairs : Json → IO (List (String × Json))
  | .null => pure []
  | .obj pairs => pure (pairs.foldr (fun k v acc => (k, v) :: acc) [])
  | _ => refuse "options must be an object"

/-- Two added constants that differ only in the module they are private to. One environment cannot
hold both: Lean finds constants by name without that module. -/
partial def clash? (seen : NameTable) : List ConstantInfo → Option Name
  | [] => none
  | info :: rest =>
    let n := privateToUserName info.name
    if inTable seen n then some n else clash? (addToTable seen n) rest

def clashText (env : Environment) : String :=
  match clash? (Array.replicate 65536 []) (added env) with
  | none => ""
  | some n =>
    "two of the modules declare a constant " ++ dotted n
      ++ " and it is private to one of them; give it another name, for such modules cannot be "
      ++ "elaborated together"

unsafe def elaborate (cache : LibraryCache) (req : Json) : IO String := do
  let imports ← asNames "imports" (← field req "imports")
  let modules ← modulesOf [] (← asList "modules" (← field req "modules"))
  let opts ← setOptions (Elab.async.set {} false) (← optionPairs (field? req "options"))
  let file ← asText "export" (← field req "export")
  let t0 ← IO.monoMsNow
  let base ← library cache imports
  let t1 ← IO.monoMsNow
  let (env, log) ← elaborateModules base opts {} modules
  let t2 ← IO.monoMsNow
  let unsupported := match modules with
    | _ :: _ :: _ => clashText env
    | _ => ""
  let constants ← exportDelta env file
  let t3 ← IO.monoMsNow
  pure ("\"messages\":" ++ array (reverse log.items)
    ++ ",\"constants\":" ++ toString constants ++ ",\"messages_dropped\":" ++ toString log.dropped
    ++ (if unsupported == "" then "" else ",\"unsupported\":" ++ quote unsupported)
    ++ ",\"ms\":{\"import\":" ++ toString (t1 - t0) ++ ",\"elaborate\":" ++ toString (t2 - t1)
    ++ ",\"export\":" ++ toString (t3 - t2) ++ "}")

end Lemmata
