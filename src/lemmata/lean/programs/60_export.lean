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

/-- What has been written: the tables, the next name, level and expression, and text not yet
handed to the file. -/
structure Writer where
  size : Nat
  seen : Seen
  lines : Lines
  names : Nat := 1
  levels : Nat := 1
  exprs : Nat := 0
  out : String := ""

def newWriter (size : Nat) : Writer :=
  { size := size, seen := Array.replicate size [], lines := Array.replicate size [] }

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

inductive Work where
  | expr (e : Expr)
  | level (l : Level)
  | name (n : Name)
  | buildExpr (e : Expr)
  | buildLevel (l : Level)
  | buildName (n : Name)

inductive Table where
  | names
  | levels
  | exprs

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

-- The tables travel as arguments of their own, so that each has one reference and is updated in
-- place.
mutual
unsafe def run (size : Nat) (work : List Work) (results : List String) (seen : Seen) (lines : Lines)
    (n l e : Nat) (out : String) : Writer × List String :=
  match work with
  | [] =>
    ({ size := size, seen := seen, lines := lines, names := n, levels := l, exprs := e, out := out },
      results)
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
          emit .exprs (keyOf x) (",\"bvar\":" ++ toString i ++ "}\n")
            size work results seen lines n l e out
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
          emit .exprs (keyOf x) (",\"natVal\":\"" ++ toString i ++ "\"}\n")
            size work results seen lines n l e out
        | .lit (.strVal s) =>
          emit .exprs (keyOf x) (",\"strVal\":" ++ quote s ++ "}\n")
            size work results seen lines n l e out
        -- The format has no free or metavariables; the reader refuses these lines.
        | .fvar _ =>
          emit .exprs (keyOf x) ",\"fvar\":null}\n" size work results seen lines n l e out
        | .mvar _ =>
          emit .exprs (keyOf x) ",\"mvar\":null}\n" size work results seen lines n l e out
        | .mdata _ inner => run size (.expr inner :: work) results seen lines n l e out
  | .buildExpr x :: work =>
    match x, results with
    | .app _ _, a :: f :: results =>
      emit .exprs (keyOf x) (",\"app\":{\"arg\":" ++ a ++ ",\"fn\":" ++ f ++ "}}\n")
        size work results seen lines n l e out
    | .lam _ _ _ i, b :: t :: c :: results =>
      emit .exprs (keyOf x)
        (",\"lam\":{\"binderInfo\":" ++ binderText i ++ ",\"body\":" ++ b ++ ",\"name\":" ++ c
          ++ ",\"type\":" ++ t ++ "}}\n")
        size work results seen lines n l e out
    | .forallE _ _ _ i, b :: t :: c :: results =>
      emit .exprs (keyOf x)
        (",\"forallE\":{\"binderInfo\":" ++ binderText i ++ ",\"body\":" ++ b ++ ",\"name\":" ++ c
          ++ ",\"type\":" ++ t ++ "}}\n")
        size work results seen lines n l e out
    | .letE _ _ _ _ _, b :: v :: t :: c :: results =>
      emit .exprs (keyOf x)
        (",\"letE\":{\"body\":" ++ b ++ ",\"name\":" ++ c ++ ",\"nondep\":false,\"type\":" ++ t
          ++ ",\"value\":" ++ v ++ "}}\n")
        size work results seen lines n l e out
    | .proj _ i _, b :: c :: results =>
      emit .exprs (keyOf x)
        (",\"proj\":{\"idx\":" ++ toString i ++ ",\"struct\":" ++ b ++ ",\"typeName\":" ++ c ++ "}}\n")
        size work results seen lines n l e out
    | .sort _, u :: results =>
      emit .exprs (keyOf x) (",\"sort\":" ++ u ++ "}\n") size work results seen lines n l e out
    | .const _ us, results =>
      let (levels, results) := takeLevels "" us results
      match results with
      | c :: results =>
        emit .exprs (keyOf x) (",\"const\":{\"name\":" ++ c ++ ",\"us\":[" ++ levels ++ "]}}\n")
          size work results seen lines n l e out
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
        | _ => emit .levels (keyOf u) ",\"mvar\":null}\n" size work results seen lines n l e out
  | .buildLevel u :: work =>
    match u, results with
    | .succ _, v :: results =>
      emit .levels (keyOf u) (",\"succ\":" ++ v ++ "}\n") size work results seen lines n l e out
    | .max _ _, w :: v :: results =>
      emit .levels (keyOf u) (",\"max\":[" ++ v ++ "," ++ w ++ "]}\n")
        size work results seen lines n l e out
    | .imax _ _, w :: v :: results =>
      emit .levels (keyOf u) (",\"imax\":[" ++ v ++ "," ++ w ++ "]}\n")
        size work results seen lines n l e out
    | .param _, c :: results =>
      emit .levels (keyOf u) (",\"param\":" ++ c ++ "}\n") size work results seen lines n l e out
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
      emit .names c (",\"str\":{\"pre\":" ++ p ++ ",\"str\":" ++ quote s ++ "}}\n")
        size work results seen lines n l e out
    | .num _ i, p :: results =>
      emit .names c (",\"num\":{\"i\":" ++ toString i ++ ",\"pre\":" ++ p ++ "}}\n")
        size work results seen lines n l e out
    | _, results => run size work results seen lines n l e out

/-- Writes a line unless an equal one was written, and leaves its index as a result. -/
unsafe def emit (table : Table) (key : Name) (text : String) (size : Nat) (work : List Work)
    (results : List String) (seen : Seen) (lines : Lines) (n l e : Nat) (out : String) :
    Writer × List String :=
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
end

/-- Writes what a declaration refers to; the indices come back in the order of `work`. -/
unsafe def writeTerms (w : Writer) (work : List Work) : Writer × List String :=
  match w with
  | { size, seen, lines, names, levels, exprs, out } =>
    let (w, results) := run size work [] seen lines names levels exprs out
    (w, reverse results)

def Writer.put (w : Writer) (text : String) : Writer :=
  match w with
  | { size, seen, lines, names, levels, exprs, out } =>
    { size, seen, lines, names, levels, exprs, out := out ++ text }

partial def nameWork (tail : List Work) : List Name → List Work
  | [] => tail
  | n :: rest => .name n :: nameWork tail rest

partial def paramWork (tail : List Work) : List Name → List Work
  | [] => tail
  | n :: rest => .level (mkLevelParam n) :: paramWork tail rest

/-- The indices of a list of names, as the JSON array. -/
unsafe def writeNames (w : Writer) (ns : List Name) : Writer × String :=
  let (w, r) := writeTerms w (nameWork [] ns)
  (w, array r)

structure Written where
  name : String
  params : String
  type : String

/-- Name, universe parameters (with the levels of that name, which readers may want) and type. -/
unsafe def writeHead (w : Writer) (v : ConstantVal) : Writer × Written :=
  let (w, params) := writeNames w v.levelParams
  let (w, _) := writeTerms w (paramWork [] v.levelParams)
  let (w, r) := writeTerms w [.name v.name, .expr v.type]
  match r with
  | [name, type] => (w, { name := name, params := params, type := type })
  | _ => (w, { name := "0", params := params, type := "0" })

unsafe def writeExpr (w : Writer) (x : Expr) : Writer × String :=
  let (w, r) := writeTerms w [.expr x]
  (w, joined "" r)

unsafe def writeName (w : Writer) (n : Name) : Writer × String :=
  let (w, r) := writeTerms w [.name n]
  (w, joined "" r)

def hintsText : ReducibilityHints → String
  | .opaque => "\"opaque\""
  | .abbrev => "\"abbrev\""
  | .regular h => "{\"regular\":" ++ toString h.toNat ++ "}"

def safetyText : DefinitionSafety → String
  | .safe => "\"safe\""
  | .unsafe => "\"unsafe\""
  | .partial => "\"partial\""

def headText (h : Written) (tail : String) : String :=
  "\"levelParams\":" ++ h.params ++ ",\"name\":" ++ h.name ++ tail ++ ",\"type\":" ++ h.type

unsafe def writeAxiom (w : Writer) (v : ConstantVal) (isUnsafe : Bool) : Writer :=
  let (w, h) := writeHead w v
  w.put ("{\"axiom\":{\"isUnsafe\":" ++ bool isUnsafe ++ "," ++ headText h "" ++ "}}\n")

def quotKindText : QuotKind → String
  | .type => "\"type\""
  | .ctor => "\"ctor\""
  | .lift => "\"lift\""
  | .ind => "\"ind\""

unsafe def writeRules (w : Writer) (acc : List String) : List RecursorRule → Writer × List String
  | [] => (w, reverse acc)
  | rule :: rest =>
    let (w, c) := writeName w rule.ctor
    let (w, rhs) := writeExpr w rule.rhs
    let text := "{\"ctor\":" ++ c ++ ",\"nfields\":" ++ toString rule.nfields ++ ",\"rhs\":" ++ rhs ++ "}"
    writeRules w (text :: acc) rest

unsafe def writeTypes (w : Writer) (acc : List String) : List InductiveVal → Writer × List String
  | [] => (w, reverse acc)
  | v :: rest =>
    let (w, h) := writeHead w v.toConstantVal
    let (w, all) := writeNames w v.all
    let (w, ctors) := writeNames w v.ctors
    let text := "{\"all\":" ++ all ++ ",\"ctors\":" ++ ctors ++ ",\"isRec\":" ++ bool v.isRec
      ++ ",\"isReflexive\":" ++ bool v.isReflexive ++ ",\"isUnsafe\":" ++ bool v.isUnsafe ++ ","
      ++ headText h (",\"numIndices\":" ++ toString v.numIndices ++ ",\"numNested\":"
        ++ toString v.numNested ++ ",\"numParams\":" ++ toString v.numParams) ++ "}"
    writeTypes w (text :: acc) rest

unsafe def writeCtors (w : Writer) (acc : List String) : List ConstructorVal → Writer × List String
  | [] => (w, reverse acc)
  | v :: rest =>
    let (w, h) := writeHead w v.toConstantVal
    let (w, induct) := writeName w v.induct
    let text := "{\"cidx\":" ++ toString v.cidx ++ ",\"induct\":" ++ induct ++ ",\"isUnsafe\":"
      ++ bool v.isUnsafe ++ "," ++ headText h (",\"numFields\":" ++ toString v.numFields
        ++ ",\"numParams\":" ++ toString v.numParams) ++ "}"
    writeCtors w (text :: acc) rest

unsafe def writeRecs (w : Writer) (acc : List String) : List RecursorVal → Writer × List String
  | [] => (w, reverse acc)
  | v :: rest =>
    let (w, h) := writeHead w v.toConstantVal
    let (w, all) := writeNames w v.all
    let (w, rules) := writeRules w [] v.rules
    let text := "{\"all\":" ++ all ++ ",\"isUnsafe\":" ++ bool v.isUnsafe ++ ",\"k\":" ++ bool v.k
      ++ "," ++ headText h (",\"numIndices\":" ++ toString v.numIndices ++ ",\"numMinors\":"
        ++ toString v.numMinors ++ ",\"numMotives\":" ++ toString v.numMotives ++ ",\"numParams\":"
        ++ toString v.numParams ++ ",\"rules\":" ++ array rules) ++ "}"
    writeRecs w (text :: acc) rest

/-- An inductive group in the making: latest members first. -/
structure Group where
  all : List Name
  types : List InductiveVal := []
  ctors : List ConstructorVal := []
  recs : List RecursorVal := []

unsafe def writeGroup (w : Writer) (g : Group) : Writer :=
  let (w, types) := writeTypes w [] (reverse g.types)
  let (w, ctors) := writeCtors w [] (reverse g.ctors)
  let (w, recs) := writeRecs w [] (reverse g.recs)
  w.put ("{\"inductive\":{\"ctors\":" ++ array ctors ++ ",\"recs\":" ++ array recs ++ ",\"types\":"
    ++ array types ++ "}}\n")

/-- One constant that is not a member of an inductive group. -/
unsafe def writeConstant (w : Writer) (info : ConstantInfo) : Writer :=
  match info with
  | .axiomInfo v => writeAxiom w v.toConstantVal v.isUnsafe
  | .defnInfo v =>
    let (w, h) := writeHead w v.toConstantVal
    let (w, all) := writeNames w v.all
    let (w, value) := writeExpr w v.value
    w.put ("{\"def\":{\"all\":" ++ all ++ ",\"hints\":" ++ hintsText v.hints ++ ","
      ++ headText h (",\"safety\":" ++ safetyText v.safety) ++ ",\"value\":" ++ value ++ "}}\n")
  | .thmInfo v =>
    let (w, h) := writeHead w v.toConstantVal
    let (w, all) := writeNames w v.all
    let (w, value) := writeExpr w v.value
    w.put ("{\"thm\":{\"all\":" ++ all ++ "," ++ headText h "" ++ ",\"value\":" ++ value ++ "}}\n")
  | .opaqueInfo v =>
    let (w, h) := writeHead w v.toConstantVal
    let (w, all) := writeNames w v.all
    let (w, value) := writeExpr w v.value
    w.put ("{\"opaque\":{\"all\":" ++ all ++ ",\"isUnsafe\":" ++ bool v.isUnsafe ++ ","
      ++ headText h "" ++ ",\"value\":" ++ value ++ "}}\n")
  | .quotInfo v =>
    let (w, h) := writeHead w v.toConstantVal
    w.put ("{\"quot\":{\"kind\":" ++ quotKindText v.kind ++ "," ++ headText h "" ++ "}}\n")
  | _ => w

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

/-- What is written as a unit. -/
inductive Unit' where
  | constant (info : ConstantInfo)
  | group (g : Group)

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

unsafe def writeConstants (w : Writer) : List ConstantInfo → Writer
  | [] => w
  | info :: rest => writeConstants (writeConstant w info) rest

unsafe def writeGroups (w : Writer) : List Group → Writer
  | [] => w
  | g :: rest => writeGroups (writeGroup w { g with types := orderTypes [] g.types g.all }) rest

def metaLine : String :=
  "{\"meta\":{\"exporter\":{\"name\":\"lemmata\",\"version\":\"1\"},\"format\":{\"version\":\"3.1.0\"}"
    ++ ",\"lean\":{\"githash\":" ++ quote githash ++ ",\"version\":" ++ quote versionString ++ "}}}\n"

unsafe def deltaText (env : Environment) : Nat × String :=
  let new := added env
  let (constants, groups) := sortOut env [] [] new
  let w := (newWriter 8192).put metaLine
  let w := writeConstants (writeGroups w groups) constants
  (count 0 new, w.out)

/-- Writes every constant that was added to the library. The declarations come in no particular
order; the judge puts them in order. -/
unsafe def exportDelta (env : Environment) (file : String) : IO Nat := do
  let (n, text) := deltaText env
  let h ← IO.FS.Handle.mk file .write
  h.putStr text
  h.flush
  pure n

/-! The library itself. -/

partial def moduleNames (acc : List Name) (names : Array Name) (i : Nat) : List Name :=
  match names[i]? with
  | some n => moduleNames (n :: acc) names (i + 1)
  | none => acc

partial def libraryNames (acc : List Name) (data : Array ModuleData) (i : Nat) : List Name :=
  match data[i]? with
  | some d => libraryNames (moduleNames acc d.constNames 0) data (i + 1)
  | none => acc

abbrev NameTable := Array (List Name)

def nameBucket (n : Name) : Nat := (n.hash % 65536).toNat

def inTable (t : NameTable) (n : Name) : Bool := isIn n (t.getD (nameBucket n) [])

def addToTable (t : NameTable) (n : Name) : NameTable :=
  let b := nameBucket n
  let chain := t.getD b []
  t.set! b (n :: chain)

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

def isSafe (env : Environment) (n : Name) : Bool :=
  match env.find? n with
  | some info => !info.isUnsafe && !info.isPartial
  | none => false

/-- The kind a constant had before its body was hidden, for a line that says `axiom`. -/
def kindLine (env : Environment) (n : Name) : String :=
  "{\"kind\":\"" ++ kindOf env n ++ "\",\"name\":" ++ nameJson n ++ "}\n"

structure Base where
  writer : Writer
  kinds : String := ""
  constants : Nat := 0

unsafe def writeBaseConstant (env : Environment) (b : Base) (n : Name) : Base :=
  match b with
  | { writer, kinds, constants } =>
    match env.find? n with
    | some (.inductInfo v) =>
      let g := groupOf env { all := v.all } v.all
      let g := { g with recs := nestedRecs env n 1 g.recs }
      { writer := writeGroup writer g, kinds
        constants := constants + count 0 g.types + count 0 g.ctors + count 0 g.recs }
    | some (.thmInfo v) =>
      { writer := writeAxiom writer v.toConstantVal false, kinds := kinds ++ kindLine env n
        constants := constants + 1 }
    | some (.axiomInfo v) =>
      { writer := writeAxiom writer v.toConstantVal v.isUnsafe, kinds := kinds ++ kindLine env n
        constants := constants + 1 }
    | some info => { writer := writeConstant writer info, kinds, constants := constants + 1 }
    | none => { writer, kinds, constants }

def quotNames : List Name := [`Quot, `Quot.mk, `Quot.lift, `Quot.ind]

unsafe def writeVisited (env : Environment) (b : Base) (n : Name) : Base :=
  match env.find? n with
  | some (.quotInfo _) => quots b quotNames
  | _ => writeBaseConstant env b n
where
  quots (b : Base) : List Name → Base
    | [] => b
    | q :: rest => quots (writeBaseConstant env b q) rest

def flushed (h out : IO.FS.Handle) (b : Base) : IO Base :=
  match b with
  | { writer, kinds, constants } =>
    if writer.out.utf8ByteSize < 1000000 then pure { writer, kinds, constants } else do
      let { size, seen, lines, names, levels, exprs, out := text } := writer
      h.putStr text
      out.putStr kinds
      pure {
        writer := { size, seen, lines, names, levels, exprs, out := "" }
        kinds := "", constants }

def unitOf (env : Environment) (n : Name) : Name :=
  match env.find? n with
  | some (.quotInfo _) => `Quot
  | _ => representative env n

/-- Depth first, so that every declaration comes after what it needs. -/
unsafe def writeBase (env : Environment) (h kindsFile : IO.FS.Handle) (done : NameTable) (b : Base) :
    List Visit → IO Base
  | [] => pure b
  | .enter n :: rest => do
    let n := unitOf env n
    if inTable done n || !isSafe env n then writeBase env h kindsFile done b rest
    else
      let needs := neededFor env n
      writeBase env h kindsFile (addToTable done n) b (enterAll (.leave n :: rest) needs)
  | .leave n :: rest => do
    let b ← flushed h kindsFile (writeVisited env b n)
    writeBase env h kindsFile done b rest

unsafe def exportBase (cache : LibraryCache) (req : Json) : IO String := do
  let imports ← asNames "imports" (← field req "imports")
  let file ← asText "file" (← field req "file")
  let kindsFile ← asText "kinds_file" (← field req "kinds_file")
  let env ← library cache imports
  let roots ← match field? req "roots" with
    | .null => pure (libraryNames [] env.header.moduleData 0)
    | j => asNames "roots" j
  let h ← IO.FS.Handle.mk file .write
  let k ← IO.FS.Handle.mk kindsFile .write
  let size := match field? req "roots" with
    | .null => 1048576
    | _ => 8192
  let b ← writeBase env h k (Array.replicate 65536 []) { writer := (newWriter size).put metaLine }
    (enterAll [] roots)
  h.putStr b.writer.out
  h.flush
  k.putStr b.kinds
  k.flush
  pure ("\"constants\":" ++ toString b.constants)

end Lemmata
