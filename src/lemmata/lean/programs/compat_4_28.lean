import Lean

/-! What differs between Lean versions: everything here is called by the other parts under a name
of our own, so that a new version means a new file of this kind and nothing else. -/

namespace Lemmata.Compat
open Lean

partial def importsOf (acc : Array Import) : List Name → Array Import
  | [] => acc
  | m :: rest => importsOf (acc.push { module := m }) rest

abbrev AnyExtension := PersistentEnvExtension EnvExtensionEntry EnvExtensionEntry EnvExtensionState

/-- Renames the extensions that hold bodies for inlining. -/
partial def hideBodies (acc : Array AnyExtension) : List AnyExtension → Array AnyExtension
  | [] => acc
  | ext :: rest =>
    let name := ext.name
    if name == ``Compiler.LCNF.baseExt || name == ``Compiler.LCNF.monoExt then
      hideBodies (acc.push { ext with name := Name.str name "hidden" }) rest
    else hideBodies (acc.push ext) rest

/-- The library modules as one environment, with their parser and attribute extensions.

A build for WebAssembly ships code for inlining that mentions private functions it does not ship,
and then fails to compile what calls them. There the library is imported without such code: calls
then go to the compiled functions. -/
def importLibrary (modules : List Name) : IO Environment := do
  let imports := importsOf #[] modules
  if System.Platform.isEmscripten then
    let known ← persistentEnvExtensionsRef.get
    persistentEnvExtensionsRef.set (hideBodies #[] known.toList)
    try importModules imports {} (trustLevel := 0) (loadExts := true)
    finally persistentEnvExtensionsRef.set known
  else importModules imports {} (trustLevel := 0) (loadExts := true)

unsafe def allowInitializers : IO Unit := enableInitializersExecution

def setOption (opts : Options) (name : Name) (value : DataValue) : Options :=
  opts.insert name value

def inputContext (text fileName : String) : Parser.InputContext :=
  { inputString := text, fileName := fileName, fileMap := FileMap.ofString text
    endPos := text.rawEndPos, endPos_valid := by simp }

def commandContext (ictx : Parser.InputContext) (pos : String.Pos.Raw) : Elab.Command.Context :=
  { fileName := ictx.fileName, fileMap := ictx.fileMap, cmdPos := pos
    snap? := none, cancelTk? := none }

def setModule (env : Environment) (name : Name) : Environment := env.setMainModule name

/-- Adds one declaration through the kernel's checker. -/
def kernelAdd (env : Kernel.Environment) (heartbeats _recDepth : Nat) (decl : Declaration) :
    Except Kernel.Exception Kernel.Environment :=
  env.addDeclCore heartbeats.toUSize decl none

def kernelEnv (env : Environment) : Kernel.Environment := env.toKernelEnv

def originalKind? (env : Environment) (name : Name) : Option ConstantKind :=
  getOriginalConstKind? env name

def headerImports (header : TSyntax ``Parser.Module.header) : Array Import :=
  Elab.headerToImports header (includeInit := false)

def headerIsModule (header : TSyntax ``Parser.Module.header) : Bool :=
  !header.raw[0].isNone

def headerIsPrelude (header : TSyntax ``Parser.Module.header) : Bool :=
  !header.raw[1].isNone

/-- The function `f` of an error that says there is no code for `f._boxed`. -/
def boxedIn (text : String) : Option Name :=
  match text.splitOn "depends on declaration '" with
  | [_, after] =>
    match after.splitOn "._boxed', which has no executable code" with
    | [f, _] => some f.toName
    | _ => none
  | _ => none

/-- Adds what code generation said it lacks, where it can be made here. A build for WebAssembly
ships no `f._boxed` for its functions, though the compiled code is there. Returns whether there is
reason to try again. -/
def supplyCode (text : String) : CoreM Bool := do
  match boxedIn text with
  | none => pure false
  | some f =>
    let env ← getEnv
    match IR.findEnvDecl env f with
    | none => pure false
    | some d => do
      IR.addDecls #[IR.ExplicitBoxing.mkBoxedVersion d]
      pure true

end Lemmata.Compat
