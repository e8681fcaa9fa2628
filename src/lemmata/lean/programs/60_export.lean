/-! Declarations as lean4export NDJSON, format 3.1.0.

Terms are walked with an explicit stack of work and a stack of results: the WebAssembly build has
little stack and does not report its overflow. Two hash tables make the output hash-consed: one from
objects already seen to their index, and one from the text of a line to its index, which finds equal
terms that are different objects. -/

namespace Lemmata
open Lean

/-- Objects (of any type, cast) with the index written for them. -/
abbrev Seen := Array (List (Name × String))
/-- Lines without their own index, with the index written for them. -/
abbrev Lines := Array (List (String × String))

/-- The tables, the next name, level and expression, and text not yet handed to the file. -/
structure Tables where
  seen : Seen
  lines : Lines
  names : Nat
  levels : Nat
  exprs : Nat
  out : String

/-- What has been written. Each table is taken out of its reference while it is used: only what has
one owner is updated in place. -/
structure Writer where
  size : Nat
  seen : IO.Ref Seen
  lines : IO.Ref Lines
  names : IO.Ref Nat
  levels : IO.Ref Nat
  exprs : IO.Ref Nat
  out : IO.Ref String

/-- `size` is the number of buckets; a prime, because objects lie at regular distances. -/
def newWriter (size : Nat) : IO Writer := do
  pure {
    size := size
    seen := ← IO.mkRef (Array.replicate size []), lines := ← IO.mkRef (Array.replicate size [])
    names := ← IO.mkRef 1, levels := ← IO.mkRef 1, exprs := ← IO.mkRef 0, out := ← IO.mkRef "" }

unsafe def keyOf {α : Type} (a : α) : Name := unsafeCast a

unsafe def seenBucket (size : Nat) (key : Name) : Nat :=
  ((ptrAddrUnsafe key >>> 3) % size.toUSize).toNat

unsafe def seenIn (key : Name) : List (Name × String) → Option String
  | [] => none
  | (k, i) :: rest => if ptrAddrUnsafe k == ptrAddrUnsafe key then some i else seenIn key rest

unsafe def seen? (size : Nat) (seen : Seen) (key : Name) : Option String :=
  seenIn key (seen.getD (seenBucket size key) [])

unsafe def remember (size : Nat) (seen : Seen) (key : Name) (index : String) : Seen :=
  let b := seenBucket size key
  let chain := seen.getD b []
  seen.set! b ((key, index) :: chain)

def lineBucket (size : Nat) (text : String) : Nat := (hash text % size.toUInt64).toNat

partial def lineIn (text : String) : List (String × String) → Option String
  | [] => none
  | (t, i) :: rest => if t == text then some i else lineIn text rest

def binderText : BinderInfo → String
  | .default => "\"default\""
  | .implicit => "\"implicit\""
  | .strictImplicit => "\"strictImplicit\""
  | .instImplicit => "\"instImplicit\""

inductive Table where
  | names
  | levels
  | exprs

inductive Work where
  | expr (e : Expr)
  | level (l : Level)
  | name (n : Name)
  | buildExpr (e : Expr)
  | buildLevel (l : Level)
  | buildName (n : Name)
  | line (table : Table) (key : Name) (text : String)

/-- The indices of the levels of a constant (they lie on the result stack, the last one on top) and
the rest of the stack. -/
partial def takeLevels (acc : String) (us : List Level) (results : List String) :
    String × List String :=
  match us, results with
  | _ :: rest, r :: results =>
    takeLevels (if acc == "" then r else r ++ "," ++ acc) rest results
  | _, results => (acc, results)

partial def pushLevels (work : List Work) : List Level → List Work
  | [] => work
  | l :: ls => .level l :: pushLevels work ls

/-- Works off the stack. Every call is a call of itself in tail position, which the interpreter turns
into a loop, and the tables travel as arguments of their own, so that each has one owner. A line is
written unless an equal one was, and leaves its index as a result. -/
unsafe def run (size : Nat) (work : List Work) (results : List String) (seen : Seen) (lines : Lines)
    (n l e : Nat) (out : String) : Tables × List String :=
  match work with
  | [] =>
    ({ seen := seen, lines := lines, names := n, levels := l, exprs := e, out := out }, results)
  | .expr x :: work =>
    match x with
    | .mdata _ inner => run size (.expr inner :: work) results seen lines n l e out
    | _ =>
      match seen? size seen (keyOf x) with
      | some i => run size work (i :: results) seen lines n l e out
      | none =>
        match x with
        | .app f a => run size (.expr f :: .expr a :: .buildExpr x :: work) results seen lines n l e out
        | .bvar i =>
          run size (.line .exprs (keyOf x) (",\"bvar\":" ++ toString i ++ "}\n") :: work) results seen lines n l e out
        | .const c us =>
          run size (.name c :: pushLevels (.buildExpr x :: work) us) results seen lines n l e out
        | .lam c t b _ =>
          run size (.name c :: .expr t :: .expr b :: .buildExpr x :: work) results seen lines n l e out
        | .forallE c t b _ =>
          run size (.name c :: .expr t :: .expr b :: .buildExpr x :: work) results seen lines n l e out
        | .letE c t v b _ =>
          run size (.name c :: .expr t :: .expr v :: .expr b :: .buildExpr x :: work)
            results seen lines n l e out
        | .proj s _ b =>
          run size (.name s :: .expr b :: .buildExpr x :: work) results seen lines n l e out
        | .sort u => run size (.level u :: .buildExpr x :: work) results seen lines n l e out
        | .lit (.natVal i) =>
          run size (.line .exprs (keyOf x) (",\"natVal\":\"" ++ toString i ++ "\"}\n") :: work) results seen lines n l e out
        | .lit (.strVal s) =>
          run size (.line .exprs (keyOf x) (",\"strVal\":" ++ quote s ++ "}\n") :: work) results seen lines n l e out
        -- The format has no free or metavariables; the reader refuses these lines.
        | .fvar _ =>
          run size (.line .exprs (keyOf x) ",\"fvar\":null}\n" :: work) results seen lines n l e out
        | .mvar _ =>
          run size (.line .exprs (keyOf x) ",\"mvar\":null}\n" :: work) results seen lines n l e out
        | .mdata _ inner => run size (.expr inner :: work) results seen lines n l e out
  | .buildExpr x :: work =>
    match x, results with
    | .app _ _, a :: f :: results =>
      run size (.line .exprs (keyOf x) (",\"app\":{\"arg\":" ++ a ++ ",\"fn\":" ++ f ++ "}}\n") :: work) results seen lines n l e out
    | .lam _ _ _ i, b :: t :: c :: results =>
      run size (.line .exprs (keyOf x)
        (",\"lam\":{\"binderInfo\":" ++ binderText i ++ ",\"body\":" ++ b ++ ",\"name\":" ++ c
          ++ ",\"type\":" ++ t ++ "}}\n") :: work) results seen lines n l e out
    | .forallE _ _ _ i, b :: t :: c :: results =>
      run size (.line .exprs (keyOf x)
        (",\"forallE\":{\"binderInfo\":" ++ binderText i ++ ",\"body\":" ++ b ++ ",\"name\":" ++ c
          ++ ",\"type\":" ++ t ++ "}}\n") :: work) results seen lines n l e out
    | .letE _ _ _ _ _, b :: v :: t :: c :: results =>
      run size (.line .exprs (keyOf x)
        (",\"letE\":{\"body\":" ++ b ++ ",\"name\":" ++ c ++ ",\"nondep\":false,\"type\":" ++ t
          ++ ",\"value\":" ++ v ++ "}}\n") :: work) results seen lines n l e out
    | .proj _ i _, b :: c :: results =>
      run size (.line .exprs (keyOf x)
        (",\"proj\":{\"idx\":" ++ toString i ++ ",\"struct\":" ++ b ++ ",\"typeName\":" ++ c ++ "}}\n") :: work) results seen lines n l e out
    | .sort _, u :: results =>
      run size (.line .exprs (keyOf x) (",\"sort\":" ++ u ++ "}\n") :: work) results seen lines n l e out
    | .const _ us, results =>
      let (levels, results) := takeLevels "" us results
      match results with
      | c :: results =>
        run size (.line .exprs (keyOf x) (",\"const\":{\"name\":" ++ c ++ ",\"us\":[" ++ levels ++ "]}}\n") :: work) results seen lines n l e out
      | [] => run size work results seen lines n l e out
    | _, results => run size work results seen lines n l e out
  | .level u :: work =>
    match u with
    | .zero => run size work ("0" :: results) seen lines n l e out
    | _ =>
      match seen? size seen (keyOf u) with
      | some i => run size work (i :: results) seen lines n l e out
      | none =>
        match u with
        | .succ v => run size (.level v :: .buildLevel u :: work) results seen lines n l e out
        | .max v w =>
          run size (.level v :: .level w :: .buildLevel u :: work) results seen lines n l e out
        | .imax v w =>
          run size (.level v :: .level w :: .buildLevel u :: work) results seen lines n l e out
        | .param c => run size (.name c :: .buildLevel u :: work) results seen lines n l e out
        | _ => run size (.line .levels (keyOf u) ",\"mvar\":null}\n" :: work) results seen lines n l e out
  | .buildLevel u :: work =>
    match u, results with
    | .succ _, v :: results =>
      run size (.line .levels (keyOf u) (",\"succ\":" ++ v ++ "}\n") :: work) results seen lines n l e out
    | .max _ _, w :: v :: results =>
      run size (.line .levels (keyOf u) (",\"max\":[" ++ v ++ "," ++ w ++ "]}\n") :: work) results seen lines n l e out
    | .imax _ _, w :: v :: results =>
      run size (.line .levels (keyOf u) (",\"imax\":[" ++ v ++ "," ++ w ++ "]}\n") :: work) results seen lines n l e out
    | .param _, c :: results =>
      run size (.line .levels (keyOf u) (",\"param\":" ++ c ++ "}\n") :: work) results seen lines n l e out
    | _, results => run size work results seen lines n l e out
  | .name c :: work =>
    match c with
    | .anonymous => run size work ("0" :: results) seen lines n l e out
    | .str p _ | .num p _ =>
      match seen? size seen c with
      | some i => run size work (i :: results) seen lines n l e out
      | none => run size (.name p :: .buildName c :: work) results seen lines n l e out
  | .buildName c :: work =>
    match c, results with
    | .str _ s, p :: results =>
      run size (.line .names c (",\"str\":{\"pre\":" ++ p ++ ",\"str\":" ++ quote s ++ "}}\n") :: work) results seen lines n l e out
    | .num _ i, p :: results =>
      run size (.line .names c (",\"num\":{\"i\":" ++ toString i ++ ",\"pre\":" ++ p ++ "}}\n") :: work) results seen lines n l e out
    | _, results => run size work results seen lines n l e out
  | .line table key text :: work =>
    let b := lineBucket size text
    let chain := lines.getD b []
    match lineIn text chain with
    | some i => run size work (i :: results) (remember size seen key i) lines n l e out
    | none =>
      match table with
      | .exprs =>
        let i := toString e
        run size work (i :: results) (remember size seen key i) (lines.set! b ((text, i) :: chain))
          n l (e + 1) (out ++ "{\"ie\":" ++ i ++ text)
      | .levels =>
        let i := toString l
        run size work (i :: results) (remember size seen key i) (lines.set! b ((text, i) :: chain))
          n (l + 1) e (out ++ "{\"il\":" ++ i ++ text)
      | .names =>
        let i := toString n
        run size work (i :: results) (remember size seen key i) (lines.set! b ((text, i) :: chain))
          (n + 1) l e (out ++ "{\"in\":" ++ i ++ text)

/-- Writes what a declaration refers to; the indices come back in the order of `work`. -/
unsafe def Writer.terms (w : Writer) (work : List Work) : IO (List String) := do
  let seen ← w.seen.swap #[]
  let lines ← w.lines.swap #[]
  let out ← w.out.swap ""
  let (t, results) :=
    run w.size work [] seen lines (← w.names.get) (← w.levels.get) (← w.exprs.get) out
  w.seen.set t.seen
  w.lines.set t.lines
  w.names.set t.names
  w.levels.set t.levels
  w.exprs.set t.exprs
  w.out.set t.out
  pure (reverse results)

def Writer.put (w : Writer) (text : String) : IO Unit := do
  let out ← w.out.swap ""
  w.out.set (out ++ text)

partial def nameWork (tail : List Work) : List Name → List Work
  | [] => tail
  | n :: rest => .name n :: nameWork tail rest

partial def paramWork (tail : List Work) : List Name → List Work
  | [] => tail
  | n :: rest => .level (mkLevelParam n) :: paramWork tail rest

/-- The indices of a list of names, as the JSON array. -/
unsafe def Writer.nameList (w : Writer) (ns : List Name) : IO String := do
  pure (array (← w.terms (nameWork [] ns)))

structure Head where
  name : String
  params : String
  type : String

/-- Name, universe parameters (with the levels of that name, which readers may want) and type. -/
unsafe def Writer.head (w : Writer) (v : ConstantVal) : IO Head := do
  let params ← w.nameList v.levelParams
  let _ ← w.terms (paramWork [] v.levelParams)
  match ← w.terms [.name v.name, .expr v.type] with
  | [name, type] => pure { name := name, params := params, type := type }
  | _ => pure { name := "0", params := params, type := "0" }

unsafe def Writer.expr (w : Writer) (x : Expr) : IO String := do
  pure (joined "" (← w.terms [.expr x]))

unsafe def Writer.name (w : Writer) (n : Name) : IO String := do
  pure (joined "" (← w.terms [.name n]))

def hintsText : ReducibilityHints → String
  | .opaque => "\"opaque\""
  | .abbrev => "\"abbrev\""
  | .regular h => "{\"regular\":" ++ toString h.toNat ++ "}"

def safetyText : DefinitionSafety → String
  | .safe => "\"safe\""
  | .unsafe => "\"unsafe\""
  | .partial => "\"partial\""

def headText (h : Head) (tail : String) : String :=
  "\"levelParams\":" ++ h.params ++ ",\"name\":" ++ h.name ++ tail ++ ",\"type\":" ++ h.type

unsafe def Writer.axiom (w : Writer) (v : ConstantVal) (isUnsafe : Bool) : IO Unit := do
  let h ← w.head v
  w.put ("{\"axiom\":{\"isUnsafe\":" ++ bool isUnsafe ++ "," ++ headText h "" ++ "}}\n")

def quotKindText : QuotKind → String
  | .type => "\"type\""
  | .ctor => "\"ctor\""
  | .lift => "\"lift\""
  | .ind => "\"ind\""

unsafe def Writer.rules (w : Writer) (acc : List String) : List RecursorRule → IO (List String)
  | [] => pure (reverse acc)
  | rule :: rest => do
    let c ← w.name rule.ctor
    let rhs ← w.expr rule.rhs
    let text := "{\"ctor\":" ++ c ++ ",\"nfields\":" ++ toString rule.nfields ++ ",\"rhs\":" ++ rhs ++ "}"
    w.rules (text :: acc) rest

unsafe def Writer.types (w : Writer) (acc : List String) : List InductiveVal → IO (List String)
  | [] => pure (reverse acc)
  | v :: rest => do
    let h ← w.head v.toConstantVal
    let all ← w.nameList v.all
    let ctors ← w.nameList v.ctors
    let text := "{\"all\":" ++ all ++ ",\"ctors\":" ++ ctors ++ ",\"isRec\":" ++ bool v.isRec
      ++ ",\"isReflexive\":" ++ bool v.isReflexive ++ ",\"isUnsafe\":" ++ bool v.isUnsafe ++ ","
      ++ headText h (",\"numIndices\":" ++ toString v.numIndices ++ ",\"numNested\":"
        ++ toString v.numNested ++ ",\"numParams\":" ++ toString v.numParams) ++ "}"
    w.types (text :: acc) rest

unsafe def Writer.ctors (w : Writer) (acc : List String) : List ConstructorVal → IO (List String)
  | [] => pure (reverse acc)
  | v :: rest => do
    let h ← w.head v.toConstantVal
    let induct ← w.name v.induct
    let text := "{\"cidx\":" ++ toString v.cidx ++ ",\"induct\":" ++ induct ++ ",\"isUnsafe\":"
      ++ bool v.isUnsafe ++ "," ++ headText h (",\"numFields\":" ++ toString v.numFields
        ++ ",\"numParams\":" ++ toString v.numParams) ++ "}"
    w.ctors (text :: acc) rest

unsafe def Writer.recs (w : Writer) (acc : List String) : List RecursorVal → IO (List String)
  | [] => pure (reverse acc)
  | v :: rest => do
    let h ← w.head v.toConstantVal
    let all ← w.nameList v.all
    let rules ← w.rules [] v.rules
    let text := "{\"all\":" ++ all ++ ",\"isUnsafe\":" ++ bool v.isUnsafe ++ ",\"k\":" ++ bool v.k
      ++ "," ++ headText h (",\"numIndices\":" ++ toString v.numIndices ++ ",\"numMinors\":"
        ++ toString v.numMinors ++ ",\"numMotives\":" ++ toString v.numMotives ++ ",\"numParams\":"
        ++ toString v.numParams ++ ",\"rules\":" ++ array rules) ++ "}"
    w.recs (text :: acc) rest

/-- An inductive group in the making: latest members first. -/
structure Group where
  all : List Name
  types : List InductiveVal := []
  ctors : List ConstructorVal := []
  recs : List RecursorVal := []

unsafe def Writer.group (w : Writer) (g : Group) : IO Unit := do
  let types ← w.types [] (reverse g.types)
  let ctors ← w.ctors [] (reverse g.ctors)
  let recs ← w.recs [] (reverse g.recs)
  w.put ("{\"inductive\":{\"ctors\":" ++ array ctors ++ ",\"recs\":" ++ array recs ++ ",\"types\":"
    ++ array types ++ "}}\n")

/-- One constant that is not a member of an inductive group. -/
unsafe def Writer.constant (w : Writer) (info : ConstantInfo) : IO Unit := do
  match info with
  | .axiomInfo v => w.axiom v.toConstantVal v.isUnsafe
  | .defnInfo v =>
    let h ← w.head v.toConstantVal
    let all ← w.nameList v.all
    let value ← w.expr v.value
    w.put ("{\"def\":{\"all\":" ++ all ++ ",\"hints\":" ++ hintsText v.hints ++ ","
      ++ headText h (",\"safety\":" ++ safetyText v.safety) ++ ",\"value\":" ++ value ++ "}}\n")
  | .thmInfo v =>
    let h ← w.head v.toConstantVal
    let all ← w.nameList v.all
    let value ← w.expr v.value
    w.put ("{\"thm\":{\"all\":" ++ all ++ "," ++ headText h "" ++ ",\"value\":" ++ value ++ "}}\n")
  | .opaqueInfo v =>
    let h ← w.head v.toConstantVal
    let all ← w.nameList v.all
    let value ← w.expr v.value
    w.put ("{\"opaque\":{\"all\":" ++ all ++ ",\"isUnsafe\":" ++ bool v.isUnsafe ++ ","
      ++ headText h "" ++ ",\"value\":" ++ value ++ "}}\n")
  | .quotInfo v =>
    let h ← w.head v.toConstantVal
    w.put ("{\"quot\":{\"kind\":" ++ quotKindText v.kind ++ "," ++ headText h "" ++ "}}\n")
  | _ => pure ()

/-! The constants that were added to an imported library. -/

abbrev Node := PersistentHashMap.Node Name ConstantInfo

mutual
partial def inNodes (acc : List ConstantInfo) : List Node → List ConstantInfo
  | [] => acc
  | .entries es :: rest => inEntries es 0 acc rest
  | .collision _ vs _ :: rest => inCollision vs 0 acc rest

partial def inEntries (es : Array (PersistentHashMap.Entry Name ConstantInfo Node)) (i : Nat)
    (acc : List ConstantInfo) (rest : List Node) : List ConstantInfo :=
  if i < es.size then
    match es.getD i .null with
    | .entry _ v => inEntries es (i + 1) (v :: acc) rest
    | .ref n => inEntries es (i + 1) acc (n :: rest)
    | .null => inEntries es (i + 1) acc rest
  else inNodes acc rest

partial def inCollision (vs : Array ConstantInfo) (i : Nat) (acc : List ConstantInfo)
    (rest : List Node) : List ConstantInfo :=
  match vs[i]? with
  | some v => inCollision vs (i + 1) (v :: acc) rest
  | none => inNodes acc rest
end

def added (env : Environment) : List ConstantInfo :=
  inNodes [] [(Compat.kernelEnv env).constants.map₂.root]

abbrev NameTable := Array (List Name)

def nameBucket (n : Name) : Nat := (n.hash % 65536).toNat

def inTable (t : NameTable) (n : Name) : Bool := isIn n (t.getD (nameBucket n) [])

def addToTable (t : NameTable) (n : Name) : NameTable :=
  let b := nameBucket n
  let chain := t.getD b []
  t.set! b (n :: chain)

partial def putInGroup (all : List Name) (f : Group → Group) (acc : List Group) :
    List Group → List Group
  | [] => f { all := all } :: acc
  | g :: rest =>
    if sameNames g.all all then prepend (f g :: rest) acc else putInGroup all f (g :: acc) rest
where
  prepend (tail : List Group) : List Group → List Group
    | [] => tail
    | g :: rest => prepend (g :: tail) rest

/-- The group of a constructor: that of its type, wherever the type is declared. -/
def groupOfCtor (env : Environment) (v : ConstructorVal) : List Name :=
  match env.find? v.induct with
  | some (.inductInfo t) => t.all
  | _ => [v.induct]

partial def sortOut (env : Environment) (constants : List ConstantInfo) (groups : List Group) :
    List ConstantInfo → List ConstantInfo × List Group
  | [] => (constants, groups)
  | info :: rest =>
    match info with
    | .inductInfo v =>
      sortOut env constants
        (putInGroup v.all (fun g => { g with types := v :: g.types }) [] groups) rest
    | .ctorInfo v =>
      sortOut env constants
        (putInGroup (groupOfCtor env v) (fun g => { g with ctors := v :: g.ctors }) [] groups) rest
    | .recInfo v =>
      sortOut env constants
        (putInGroup v.all (fun g => { g with recs := v :: g.recs }) [] groups) rest
    | _ => sortOut env (info :: constants) groups rest

/-- The types of a group in the order of `all`; those `all` does not list come last. -/
partial def orderTypes (acc : List InductiveVal) (types : List InductiveVal) :
    List Name → List InductiveVal
  | [] => others acc types
  | n :: rest => orderTypes (pick acc n types) types rest
where
  pick (acc : List InductiveVal) (n : Name) : List InductiveVal → List InductiveVal
    | [] => acc
    | v :: vs => if v.name == n then v :: acc else pick acc n vs
  others (acc : List InductiveVal) : List InductiveVal → List InductiveVal
    | [] => acc
    | v :: vs => if has v.name acc then others acc vs else others (v :: acc) vs
  has (n : Name) : List InductiveVal → Bool
    | [] => false
    | v :: vs => v.name == n || has n vs

unsafe def Writer.constants (w : Writer) : List ConstantInfo → IO Unit
  | [] => pure ()
  | info :: rest => do
    w.constant info
    w.constants rest

unsafe def Writer.groups (w : Writer) : List Group → IO Unit
  | [] => pure ()
  | g :: rest => do
    w.group { g with types := orderTypes [] g.types g.all }
    w.groups rest

def metaLine : String :=
  "{\"meta\":{\"exporter\":{\"name\":\"lemmata\",\"version\":\"1\"},\"format\":{\"version\":\"3.1.0\"}"
    ++ ",\"lean\":{\"githash\":" ++ quote githash ++ ",\"version\":" ++ quote versionString ++ "}}}\n"

/-- Hands the text to the file. -/
def Writer.flush (w : Writer) (h : IO.FS.Handle) : IO Unit := do
  h.putStr (← w.out.swap "")

/-- Writes every constant that was added to the library. The declarations come in no particular
order; the judge puts them in order. -/
unsafe def exportDelta (env : Environment) (file : String) : IO Nat := do
  -- Proofs as elaborated share little; a tenth of the objects is left to walk.
  let new := ShareCommon.shareCommon' (added env)
  let (constants, groups) := sortOut env [] [] new
  let w ← newWriter 32749
  w.put metaLine
  w.groups groups
  w.constants constants
  let h ← IO.FS.Handle.mk file .write
  w.flush h
  h.flush
  pure (count 0 new)

/-! The library itself. -/

partial def moduleNames (acc : List Name) (names : Array Name) (i : Nat) : List Name :=
  match names[i]? with
  | some n => moduleNames (n :: acc) names (i + 1)
  | none => acc

partial def libraryNames (acc : List Name) (data : Array ModuleData) (i : Nat) : List Name :=
  match data[i]? with
  | some d => libraryNames (moduleNames acc d.constNames 0) data (i + 1)
  | none => acc

inductive Visit where
  | enter (n : Name)
  | leave (n : Name)

partial def enterAll (tail : List Visit) : List Name → List Visit
  | [] => tail
  | n :: rest => .enter n :: enterAll tail rest

partial def groupCtors (env : Environment) (acc : List ConstructorVal) : List Name → List ConstructorVal
  | [] => acc
  | n :: rest =>
    match env.find? n with
    | some (.ctorInfo v) => groupCtors env (v :: acc) rest
    | _ => groupCtors env acc rest

partial def nestedRecs (env : Environment) (first : Name) (i : Nat) (acc : List RecursorVal) :
    List RecursorVal :=
  match env.find? (Name.str first ("rec_" ++ toString i)) with
  | some (.recInfo v) => nestedRecs env first (i + 1) (v :: acc)
  | _ => acc

partial def groupOf (env : Environment) (g : Group) : List Name → Group
  | [] => g
  | n :: rest =>
    match env.find? n with
    | some (.inductInfo v) =>
      let recs := match env.find? (Name.str n "rec") with
        | some (.recInfo r) => r :: g.recs
        | _ => g.recs
      groupOf env { g with
        types := v :: g.types, ctors := groupCtors env g.ctors v.ctors, recs := recs } rest
    | _ => groupOf env g rest

/-- What the kernel needs before a library constant can be added: a theorem's proof does not
count, because theorems are exported as axioms. -/
def neededFor (env : Environment) (n : Name) : List Name :=
  match env.find? n with
  | some (.inductInfo v) => usedInConstants env n [] v.all
  | some (.thmInfo v) => usedIn env n [] v.type
  | some (.defnInfo v) => usedIn env n (usedIn env n [] v.type) v.value
  | some (.opaqueInfo v) => usedIn env n (usedIn env n [] v.type) v.value
  | some (.quotInfo v) => `Eq :: usedIn env n [] v.type
  | some info => usedIn env n [] info.type
  | none => []

partial def firstPart : Name → Name
  | .anonymous => .anonymous
  | .str .anonymous s => .str .anonymous s
  | .num .anonymous n => .num .anonymous n
  | .str p _ | .num p _ => firstPart p

/-- The first part of the name of the module that declares a library constant. -/
def packageOf (env : Environment) (n : Name) : Name :=
  match env.getModuleIdxFor? n with
  | some i => firstPart (env.header.moduleNames.getD i.toNat .anonymous)
  | none => .anonymous

def isSafe (env : Environment) (n : Name) : Bool :=
  match env.find? n with
  | some info => !info.isUnsafe && !info.isPartial
  | none => false

/-- The kind a constant had before its body was hidden, for a line that says `axiom`. -/
def kindLine (env : Environment) (n : Name) : String :=
  "{\"kind\":\"" ++ kindOf env n ++ "\",\"name\":" ++ nameJson n ++ "}\n"

/-- Where a base goes, and how many constants went there. -/
structure Base where
  writer : Writer
  file : IO.FS.Handle
  kinds : IO.FS.Handle
  constants : IO.Ref Nat

def Base.add (b : Base) (n : Nat) : IO Unit := do
  b.constants.set ((← b.constants.get) + n)

unsafe def Base.constant (b : Base) (env : Environment) (n : Name) : IO Unit := do
  match env.find? n with
  | some (.inductInfo v) =>
    let g := groupOf env { all := v.all } v.all
    let g := { g with recs := nestedRecs env n 1 g.recs }
    b.writer.group g
    b.add (count 0 g.types + count 0 g.ctors + count 0 g.recs)
  | some (.thmInfo v) =>
    b.writer.axiom v.toConstantVal false
    b.kinds.putStr (kindLine env n)
    b.add 1
  | some (.axiomInfo v) =>
    b.writer.axiom v.toConstantVal v.isUnsafe
    b.kinds.putStr (kindLine env n)
    b.add 1
  | some info =>
    b.writer.constant info
    b.add 1
  | none => pure ()

def quotNames : List Name := [`Quot, `Quot.mk, `Quot.lift, `Quot.ind]

unsafe def Base.quots (b : Base) (env : Environment) : List Name → IO Unit
  | [] => pure ()
  | q :: rest => do
    b.constant env q
    b.quots env rest

unsafe def Base.visited (b : Base) (env : Environment) (n : Name) : IO Unit := do
  match env.find? n with
  | some (.quotInfo _) => b.quots env quotNames
  | _ => b.constant env n

def unitOf (env : Environment) (n : Name) : Name :=
  match env.find? n with
  | some (.quotInfo _) => `Quot
  | _ => representative env n

/-- Depth first, so that every declaration comes after what it needs. -/
unsafe def writeBase (env : Environment) (skip : List Name) (b : Base) (done : NameTable) :
    List Visit → IO Unit
  | [] => pure ()
  | .enter n :: rest => do
    let n := unitOf env n
    if inTable done n || !isSafe env n || isIn (packageOf env n) skip then
      writeBase env skip b done rest
    else
      let needs := neededFor env n
      writeBase env skip b (addToTable done n) (enterAll (.leave n :: rest) needs)
  | .leave n :: rest => do
    b.visited env n
    b.writer.flush b.file
    writeBase env skip b done rest

unsafe def exportBase (cache : LibraryCache) (req : Json) : IO String := do
  let imports ← asNames "imports" (← field req "imports")
  let file ← asText "file" (← field req "file")
  let kindsFile ← asText "kinds_file" (← field req "kinds_file")
  let env ← library cache imports
  let roots ← match field? req "roots" with
    | .null => pure (libraryNames [] env.header.moduleData 0)
    | j => asNames "roots" j
  let size := match field? req "roots" with
    | .null => 1048573
    | _ => 32749
  let skip ← match field? req "skip" with
    | .null => pure []
    | j => asNames "skip" j
  let b : Base := {
    writer := ← newWriter size, file := ← IO.FS.Handle.mk file .write
    kinds := ← IO.FS.Handle.mk kindsFile .write, constants := ← IO.mkRef 0 }
  b.writer.put metaLine
  b.writer.flush b.file
  writeBase env skip b (Array.replicate 65536 []) (enterAll [] roots)
  b.file.flush
  b.kinds.flush
  pure ("\"constants\":" ++ toString (← b.constants.get))

end Lemmata
