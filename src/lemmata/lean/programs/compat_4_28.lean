import Lean

/-! What differs between Lean versions: everything here is called by the other parts under a name
of our own, so that a new version means a new file of this kind and nothing else. -/

namespace Lemmata.Compat
open Lean

/-- The library modules as one environment, with their parser and attribute extensions. -/
def importLibrary (modules : List Name) : IO Environment :=
  importModules (imports #[] modules) {} (trustLevel := 0) (loadExts := true)
where
  imports (acc : Array Import) : List Name → Array Import
    | [] => acc
    | m :: rest => imports (acc.push { module := m }) rest

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

end Lemmata.Compat
