/-! The kernel process: declarations from a file, added one by one through Lean's kernel. -/

namespace Lemmata
open Lean

/-- The tables of an export file (indices are contiguous: the file was written by the judge), the
environment so far, members of unfinished mutual definitions, what failed so far, and the results,
latest first. -/
structure Replay where
  names : Array Name := #[Name.anonymous]
  levels : Array Level := #[Level.zero]
  exprs : Array Expr := #[]
  env : Kernel.Environment
  waiting : List DefinitionVal := []
  failed : List Name := []
  results : List String := []

def at? {α : Type} (what : String) (table : Array α) (j : Json) : IO α := do
  let i ← asNat what j
  match table[i]? with
  | some x => pure x
  | none => refuse (what ++ " " ++ toString i ++ " is not defined")

def Replay.name (r : Replay) (j : Json) : IO Name := at? "name" r.names j
def Replay.level (r : Replay) (j : Json) : IO Level := at? "level" r.levels j
def Replay.expr (r : Replay) (j : Json) : IO Expr := at? "expression" r.exprs j

partial def Replay.nameList (r : Replay) (acc : List Name) : List Json → IO (List Name)
  | [] => pure (reverse acc)
  | j :: rest => do r.nameList ((← r.name j) :: acc) rest

partial def Replay.levelList (r : Replay) (acc : List Level) : List Json → IO (List Level)
  | [] => pure (reverse acc)
  | j :: rest => do r.levelList ((← r.level j) :: acc) rest

def Replay.nameField (r : Replay) (j : Json) (key : String) : IO Name := do
  r.name (← field j key)

def Replay.namesField (r : Replay) (j : Json) (key : String) : IO (List Name) := do
  r.nameList [] (← asList key (← field j key))

def Replay.exprField (r : Replay) (j : Json) (key : String) : IO Expr := do
  r.expr (← field j key)

def natField (j : Json) (key : String) : IO Nat := do asNat key (← field j key)
def boolField (j : Json) (key : String) : IO Bool := do asBool key (← field j key)

def checkIndex (what : String) (size : Nat) (j : Json) : IO Unit := do
  let i ← asNat what j
  if i == size then pure () else refuse (what ++ " " ++ toString i ++ " is out of order")

def Replay.addName (r : Replay) (j : Json) : IO Replay := do
  checkIndex "name" r.names.size (← field j "in")
  match field? j "str" with
  | .null => do
    let p ← field j "num"
    let n := Name.num (← r.nameField p "pre") (← natField p "i")
    pure { r with names := r.names.push n }
  | p => do
    let n := Name.str (← r.nameField p "pre") (← asText "str" (← field p "str"))
    pure { r with names := r.names.push n }

def Replay.pair (r : Replay) (j : Json) : IO (Level × Level) := do
  match ← asList "levels" j with
  | [u, v] => pure (← r.level u, ← r.level v)
  | _ => refuse "max and imax take two levels"

def Replay.buildLevel (r : Replay) (j : Json) : IO Level := do
  match field? j "succ", field? j "max", field? j "imax", field? j "param" with
  | .null, .null, .null, p => pure (mkLevelParam (← r.name p))
  | .null, .null, p, _ => do
    let (u, v) ← r.pair p
    pure (mkLevelIMax u v)
  | .null, p, _, _ => do
    let (u, v) ← r.pair p
    pure (mkLevelMax u v)
  | p, _, _, _ => pure (mkLevelSucc (← r.level p))

def Replay.addLevel (r : Replay) (j : Json) : IO Replay := do
  checkIndex "level" r.levels.size (← field j "il")
  let l ← r.buildLevel j
  pure { r with levels := r.levels.push l }

def binderOf : Json → BinderInfo
  | .str "implicit" => .implicit
  | .str "strictImplicit" => .strictImplicit
  | .str "instImplicit" => .instImplicit
  | _ => .default

def present (j : Json) (key : String) : Bool :=
  match j.getObjVal? key with
  | .ok _ => true
  | .error _ => false

def Replay.buildExpr (r : Replay) (j : Json) : IO Expr := do
  if present j "app" then
    let p ← field j "app"
    pure (mkApp (← r.exprField p "fn") (← r.exprField p "arg"))
  else if present j "const" then
    let p ← field j "const"
    pure (mkConst (← r.nameField p "name") (← r.levelList [] (← asList "us" (← field p "us"))))
  else if present j "bvar" then
    pure (mkBVar (← natField j "bvar"))
  else if present j "lam" then
    let p ← field j "lam"
    pure (mkLambda (← r.nameField p "name") (binderOf (field? p "binderInfo"))
      (← r.exprField p "type") (← r.exprField p "body"))
  else if present j "forallE" then
    let p ← field j "forallE"
    pure (mkForall (← r.nameField p "name") (binderOf (field? p "binderInfo"))
      (← r.exprField p "type") (← r.exprField p "body"))
  else if present j "sort" then
    pure (mkSort (← r.level (← field j "sort")))
  else if present j "letE" then
    let p ← field j "letE"
    pure (mkLet (← r.nameField p "name") (← r.exprField p "type") (← r.exprField p "value")
      (← r.exprField p "body"))
  else if present j "proj" then
    let p ← field j "proj"
    pure (mkProj (← r.nameField p "typeName") (← natField p "idx") (← r.exprField p "struct"))
  else if present j "natVal" then do
    let text ← asText "natVal" (← field j "natVal")
    match call1 String.toNat? text with
    | some n => pure (mkRawNatLit n)
    | none => refuse "a natVal is not a number"
  else if present j "strVal" then
    pure (mkStrLit (← asText "strVal" (← field j "strVal")))
  else refuse "an expression of no known kind"

def Replay.addExpr (r : Replay) (j : Json) : IO Replay := do
  checkIndex "expression" r.exprs.size (← field j "ie")
  let e ← r.buildExpr j
  pure { r with exprs := r.exprs.push e }

/-- The kernel's exceptions as `(outcome, reason)`, with the constant where there is one. -/
def exceptionKind : Kernel.Exception → String × String
  | .unknownConstant .. => ("rejected", "unknown_constant")
  | .alreadyDeclared .. => ("rejected", "already_declared")
  | .declTypeMismatch .. => ("rejected", "declaration_type_mismatch")
  | .declHasMVars .. => ("rejected", "declaration_has_metavariables")
  | .declHasFVars .. => ("rejected", "declaration_has_free_variables")
  | .funExpected .. => ("rejected", "function_expected")
  | .typeExpected .. => ("rejected", "type_expected")
  | .letTypeMismatch .. => ("rejected", "let_type_mismatch")
  | .exprTypeMismatch .. => ("rejected", "expression_type_mismatch")
  | .appTypeMismatch .. => ("rejected", "application_type_mismatch")
  | .invalidProj .. => ("rejected", "invalid_projection")
  | .thmTypeIsNotProp .. => ("rejected", "theorem_type_is_not_a_proposition")
  | .other .. => ("rejected", "other")
  | .deterministicTimeout => ("undecided", "kernel_limit")
  | .excessiveMemory => ("undecided", "kernel_limit")
  | .deepRecursion => ("undecided", "kernel_limit")
  | .interrupted => ("undecided", "kernel_limit")

def exceptionText : Kernel.Exception → String
  | .unknownConstant _ n => "unknown constant " ++ dotted n
  | .alreadyDeclared _ n => dotted n ++ " is already declared"
  | .other text => text
  | .deterministicTimeout => "deterministic timeout"
  | .excessiveMemory => "excessive memory"
  | .deepRecursion => "deep recursion"
  | .interrupted => "interrupted"
  | _ => ""

partial def isPrivate : Name → Bool
  | .anonymous => false
  | .str p s => s == "_private" || isPrivate p
  | .num p _ => isPrivate p

partial def isIn (n : Name) : List Name → Bool
  | [] => false
  | x :: xs => x == n || isIn n xs

partial def namesJson (acc : List String) : List Name → String
  | [] => array (reverse acc)
  | n :: rest => namesJson (nameJson n :: acc) rest

partial def prependNames (names tail : List Name) : List Name :=
  match names with
  | [] => tail
  | n :: rest => prependNames rest (n :: tail)

def resultJson (kind : String) (names : List Name) (outcome reason message : String)
    (blockedBy : String) (ms : Nat) : String :=
  "{\"names\":" ++ namesJson [] names ++ ",\"kind\":\"" ++ kind ++ "\",\"outcome\":\"" ++ outcome
    ++ "\",\"reason\":\"" ++ reason ++ "\",\"message\":" ++ quote message ++ blockedBy
    ++ ",\"ms\":" ++ toString ms ++ "}"

def Replay.accept (r : Replay) (kind : String) (names : List Name) (ms : Nat) : Replay :=
  { r with results := resultJson kind names "accepted" "" "" "" ms :: r.results }

def Replay.refuse (r : Replay) (kind : String) (names : List Name)
    (outcome reason message blockedBy : String) (ms : Nat) : Replay :=
  { r with
    failed := prependNames names r.failed
    results := resultJson kind names outcome reason message blockedBy ms :: r.results }

def Replay.except (r : Replay) (kind : String) (names : List Name) (e : Kernel.Exception)
    (ms : Nat) : Replay :=
  let (outcome, reason) := exceptionKind e
  match e with
  | .unknownConstant _ n =>
    if isIn n r.failed then
      r.refuse kind names "blocked" "" ("needs " ++ dotted n)
        (",\"by\":" ++ nameJson n) ms
    else if isPrivate n then
      r.refuse kind names "undecided" "missing_base_constant" (exceptionText e) "" ms
    else r.refuse kind names outcome reason (exceptionText e) "" ms
  | _ => r.refuse kind names outcome reason (exceptionText e) "" ms

/-- What the kernel made of an inductive declaration, against what the file claims. -/
structure Claims where
  types : List InductiveVal := []
  ctors : List ConstructorVal := []
  recs : List RecursorVal := []

def sameValue (a b : ConstantVal) : Bool :=
  a.name == b.name && sameNames a.levelParams b.levelParams && a.type == b.type

def sameInductive (a b : InductiveVal) : Bool :=
  sameValue a.toConstantVal b.toConstantVal && a.numParams == b.numParams
    && a.numIndices == b.numIndices && sameNames a.all b.all && sameNames a.ctors b.ctors
    && a.numNested == b.numNested && a.isRec == b.isRec && a.isUnsafe == b.isUnsafe
    && a.isReflexive == b.isReflexive

def sameConstructor (a b : ConstructorVal) : Bool :=
  sameValue a.toConstantVal b.toConstantVal && a.induct == b.induct && a.cidx == b.cidx
    && a.numParams == b.numParams && a.numFields == b.numFields && a.isUnsafe == b.isUnsafe

partial def sameRules : List RecursorRule → List RecursorRule → Bool
  | [], [] => true
  | a :: as, b :: bs =>
    a.ctor == b.ctor && a.nfields == b.nfields && a.rhs == b.rhs && sameRules as bs
  | _, _ => false

def sameRecursor (a b : RecursorVal) : Bool :=
  sameValue a.toConstantVal b.toConstantVal && sameNames a.all b.all && a.numParams == b.numParams
    && a.numIndices == b.numIndices && a.numMotives == b.numMotives && a.numMinors == b.numMinors
    && sameRules a.rules b.rules && a.k == b.k && a.isUnsafe == b.isUnsafe

partial def wrongType (env : Kernel.Environment) : List InductiveVal → Option Name
  | [] => none
  | v :: rest =>
    match env.find? v.name with
    | some (.inductInfo w) => if sameInductive v w then wrongType env rest else some v.name
    | _ => some v.name

partial def wrongConstructor (env : Kernel.Environment) : List ConstructorVal → Option Name
  | [] => none
  | v :: rest =>
    match env.find? v.name with
    | some (.ctorInfo w) => if sameConstructor v w then wrongConstructor env rest else some v.name
    | _ => some v.name

partial def wrongRecursor (env : Kernel.Environment) : List RecursorVal → Option Name
  | [] => none
  | v :: rest =>
    match env.find? v.name with
    | some (.recInfo w) => if sameRecursor v w then wrongRecursor env rest else some v.name
    | _ => some v.name

def Claims.wrong? (c : Claims) (env : Kernel.Environment) : Option Name :=
  match wrongType env c.types with
  | some n => some n
  | none =>
    match wrongConstructor env c.ctors with
    | some n => some n
    | none => wrongRecursor env c.recs

structure KernelLimits where
  heartbeats : Nat
  recDepth : Nat

def Replay.add (r : Replay) (limits : KernelLimits) (kind : String) (names : List Name)
    (decl : Declaration) (claims : Claims) : IO Replay := do
  let t0 ← IO.monoMsNow
  let added := Compat.kernelAdd r.env limits.heartbeats limits.recDepth decl
  match added with
  | .error e => do
    let t1 ← IO.monoMsNow
    pure (r.except kind names e (t1 - t0))
  | .ok env => do
    let t1 ← IO.monoMsNow
    match claims.wrong? env with
    | some n =>
      pure (r.refuse kind names "rejected" "generated_mismatch"
        ("the kernel generates another " ++ dotted n ++ " than the export claims") "" (t1 - t0))
    | none => pure ({ r with env := env }.accept kind names (t1 - t0))

def Replay.constant (r : Replay) (j : Json) : IO ConstantVal := do
  pure { name := ← r.nameField j "name"
         levelParams := ← r.namesField j "levelParams"
         type := ← r.exprField j "type" }

def hintsOf (j : Json) : IO ReducibilityHints := do
  match j with
  | .str "opaque" => pure .opaque
  | .str "abbrev" => pure .abbrev
  | _ => do
    let h ← natField j "regular"
    pure (.regular h.toUInt32)

def Replay.rules (r : Replay) (acc : List RecursorRule) : List Json → IO (List RecursorRule)
  | [] => pure (reverse acc)
  | j :: rest => do
    let rule : RecursorRule := {
      ctor := ← r.nameField j "ctor", nfields := ← natField j "nfields"
      rhs := ← r.exprField j "rhs" }
    r.rules (rule :: acc) rest

partial def Replay.types (r : Replay) (acc : List InductiveVal) : List Json → IO (List InductiveVal)
  | [] => pure (reverse acc)
  | j :: rest => do
    let c ← r.constant j
    let v : InductiveVal := {
      name := c.name, levelParams := c.levelParams, type := c.type
      numParams := ← natField j "numParams", numIndices := ← natField j "numIndices"
      all := ← r.namesField j "all", ctors := ← r.namesField j "ctors"
      numNested := ← natField j "numNested", isRec := ← boolField j "isRec"
      isUnsafe := ← boolField j "isUnsafe", isReflexive := ← boolField j "isReflexive" }
    r.types (v :: acc) rest

partial def Replay.ctors (r : Replay) (acc : List ConstructorVal) :
    List Json → IO (List ConstructorVal)
  | [] => pure (reverse acc)
  | j :: rest => do
    let c ← r.constant j
    let v : ConstructorVal := {
      name := c.name, levelParams := c.levelParams, type := c.type
      induct := ← r.nameField j "induct", cidx := ← natField j "cidx"
      numParams := ← natField j "numParams", numFields := ← natField j "numFields"
      isUnsafe := ← boolField j "isUnsafe" }
    r.ctors (v :: acc) rest

partial def Replay.recs (r : Replay) (acc : List RecursorVal) : List Json → IO (List RecursorVal)
  | [] => pure (reverse acc)
  | j :: rest => do
    let c ← r.constant j
    let v : RecursorVal := {
      name := c.name, levelParams := c.levelParams, type := c.type
      all := ← r.namesField j "all"
      numParams := ← natField j "numParams", numIndices := ← natField j "numIndices"
      numMotives := ← natField j "numMotives", numMinors := ← natField j "numMinors"
      rules := ← r.rules [] (← asList "rules" (← field j "rules"))
      k := ← boolField j "k", isUnsafe := ← boolField j "isUnsafe" }
    r.recs (v :: acc) rest

partial def constructorsOf (acc : List Constructor) (ctors : List ConstructorVal) :
    List Name → IO (List Constructor)
  | [] => pure (reverse acc)
  | n :: rest => do
    match find n ctors with
    | some c => constructorsOf ({ name := c.name, type := c.type } :: acc) ctors rest
    | none => refuse ("the constructor " ++ dotted n ++ " is not in its group")
where
  find (n : Name) : List ConstructorVal → Option ConstructorVal
    | [] => none
    | c :: cs => if c.name == n then some c else find n cs

partial def inductiveTypes (acc : List InductiveType) (ctors : List ConstructorVal) :
    List InductiveVal → IO (List InductiveType)
  | [] => pure (reverse acc)
  | v :: rest => do
    let t : InductiveType := {
      name := v.name, type := v.type, ctors := ← constructorsOf [] ctors v.ctors }
    inductiveTypes (t :: acc) ctors rest

partial def claimedNames (c : Claims) : List Name :=
  types c.types (ctors c.ctors (recs c.recs))
where
  recs : List RecursorVal → List Name
    | [] => []
    | v :: rest => v.name :: recs rest
  ctors : List ConstructorVal → List Name → List Name
    | [], tail => tail
    | v :: rest, tail => v.name :: ctors rest tail
  types : List InductiveVal → List Name → List Name
    | [], tail => tail
    | v :: rest, tail => v.name :: types rest tail

def Replay.inductive (r : Replay) (limits : KernelLimits) (j : Json) : IO Replay := do
  let types ← r.types [] (← asList "types" (← field j "types"))
  let ctors ← r.ctors [] (← asList "ctors" (← field j "ctors"))
  let recs ← r.recs [] (← asList "recs" (← field j "recs"))
  let claims : Claims := { types := types, ctors := ctors, recs := recs }
  match types with
  | [] => Lemmata.refuse "an inductive group without types"
  | first :: _ => do
    let decl := Declaration.inductDecl first.levelParams first.numParams
      (← inductiveTypes [] ctors types) first.isUnsafe
    r.add limits "inductive" (claimedNames claims) decl claims

/-- The quotient constants come as four lines and are one declaration to the kernel. -/
def Replay.quot (r : Replay) (limits : KernelLimits) (j : Json) : IO Replay := do
  let n ← r.nameField j "name"
  match field? j "kind" with
  | .str "type" => r.add limits "quot" [n] Declaration.quotDecl {}
  | _ =>
    match r.env.find? n with
    | some (.quotInfo _) => pure (r.accept "quot" [n] 0)
    | _ => pure (r.refuse "quot" [n] "rejected" "other" "not a quotient constant" "" 0)

partial def findDefinition (n : Name) : List DefinitionVal → Option DefinitionVal
  | [] => none
  | v :: rest => if v.name == n then some v else findDefinition n rest

/-- The definitions of these names, if all are there. -/
partial def members (acc : List DefinitionVal) (among : List DefinitionVal) :
    List Name → Option (List DefinitionVal)
  | [] => some (reverse acc)
  | n :: rest =>
    match findDefinition n among with
    | some v => members (v :: acc) among rest
    | none => none

partial def without (names : List Name) (acc : List DefinitionVal) :
    List DefinitionVal → List DefinitionVal
  | [] => acc
  | v :: rest => if isIn v.name names then without names acc rest else without names (v :: acc) rest

/-- Definitions that may mention each other (unsafe and partial ones) go to the kernel together, once
the last of them was read. -/
def Replay.mutualDefinition (r : Replay) (limits : KernelLimits) (v : DefinitionVal) :
    IO Replay := do
  let waiting := v :: r.waiting
  match members [] waiting v.all with
  | none => pure { r with waiting := waiting }
  | some group =>
    let r := { r with waiting := without v.all [] waiting }
    r.add limits "definition" v.all (.mutualDefnDecl group) {}

/-- Refuses what still waits for the rest of its mutual definition. -/
partial def Replay.refuseWaiting (r : Replay) : List DefinitionVal → Replay
  | [] => r
  | v :: rest =>
    (r.refuse "definition" [v.name] "rejected" "other"
      ("the definitions mutual with " ++ dotted v.name ++ " are not all in the file") "" 0).refuseWaiting
      rest

def Replay.definition (r : Replay) (limits : KernelLimits) (j : Json) : IO Replay := do
  let c ← r.constant j
  let safety := match field? j "safety" with
    | .str "unsafe" => DefinitionSafety.unsafe
    | .str "partial" => DefinitionSafety.partial
    | _ => DefinitionSafety.safe
  let v : DefinitionVal := {
    name := c.name, levelParams := c.levelParams, type := c.type
    value := ← r.exprField j "value", hints := ← hintsOf (← field j "hints")
    safety := safety, all := ← r.namesField j "all" }
  match safety with
  | .safe => r.add limits "definition" [c.name] (.defnDecl v) {}
  | _ => r.mutualDefinition limits v

def Replay.theorem (r : Replay) (limits : KernelLimits) (j : Json) : IO Replay := do
  let c ← r.constant j
  let v : TheoremVal := {
    name := c.name, levelParams := c.levelParams, type := c.type
    value := ← r.exprField j "value", all := ← r.namesField j "all" }
  r.add limits "theorem" [c.name] (.thmDecl v) {}

def Replay.opaque (r : Replay) (limits : KernelLimits) (j : Json) : IO Replay := do
  let c ← r.constant j
  let v : OpaqueVal := {
    name := c.name, levelParams := c.levelParams, type := c.type
    value := ← r.exprField j "value", isUnsafe := ← boolField j "isUnsafe"
    all := ← r.namesField j "all" }
  r.add limits "opaque" [c.name] (.opaqueDecl v) {}

def Replay.axiom (r : Replay) (limits : KernelLimits) (j : Json) : IO Replay := do
  let c ← r.constant j
  let v : AxiomVal := {
    name := c.name, levelParams := c.levelParams, type := c.type
    isUnsafe := ← boolField j "isUnsafe" }
  r.add limits "axiom" [c.name] (.axiomDecl v) {}

def Replay.line (r : Replay) (limits : KernelLimits) (j : Json) : IO Replay := do
  if present j "ie" then r.addExpr j
  else if present j "in" then r.addName j
  else if present j "il" then r.addLevel j
  else if present j "thm" then r.theorem limits (field? j "thm")
  else if present j "def" then r.definition limits (field? j "def")
  else if present j "inductive" then r.inductive limits (field? j "inductive")
  else if present j "opaque" then r.opaque limits (field? j "opaque")
  else if present j "axiom" then r.axiom limits (field? j "axiom")
  else if present j "quot" then r.quot limits (field? j "quot")
  else if present j "meta" then pure r
  else Lemmata.refuse "a line of no known kind"

partial def replayLines (limits : KernelLimits) (h : IO.FS.Handle) (n : Nat) (r : Replay) :
    IO Replay := do
  let line ← h.getLine
  if line == "" then pure r else
    match Json.parse line with
    | .error _ => Lemmata.refuse ("line " ++ toString n ++ " of the file is not JSON")
    | .ok j => do
      let r ← r.line limits j
      replayLines limits h (n + 1) r

def natOr (d : Nat) : Json → Nat
  | .null => d
  | j => match j.getNat? with
    | .ok n => n
    | .error _ => d

def replay (cache : LibraryCache) (req : Json) : IO String := do
  let imports ← asNames "imports" (← field req "imports")
  let file ← asText "file" (← field req "file")
  let limits : KernelLimits := {
    heartbeats := natOr 0 (field? req "maxHeartbeats")
    recDepth := natOr 0 (field? req "maxRecDepth") }
  let base ← library cache imports
  let h ← IO.FS.Handle.mk file .read
  let r ← replayLines limits h 1 { env := Compat.kernelEnv base }
  let r := r.refuseWaiting (reverse r.waiting)
  pure ("\"results\":" ++ array (reverse r.results))

end Lemmata
