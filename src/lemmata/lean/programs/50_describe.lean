/-! What library constants rest on. -/

namespace Lemmata
open Lean

/-- `axioms` and `hidden` (constants without a shipped body) in the closure of a constant, each
without repetition; of `hidden` only the first few. -/
structure Fact where
  axioms : List Name := []
  hidden : List Name := []

/-- Facts already found: a hash table with chains. -/
abbrev Facts := Array (List (Name × Fact))

def factBuckets : Nat := 16384

def factBucket (n : Name) : Nat := (n.hash % 16384).toNat

partial def inChain (n : Name) : List (Name × Fact) → Option Fact
  | [] => none
  | (m, f) :: rest => if m == n then some f else inChain n rest

def fact? (facts : Facts) (n : Name) : Option Fact := inChain n (facts.getD (factBucket n) [])

def addFact (facts : Facts) (n : Name) (f : Fact) : Facts :=
  let i := factBucket n
  let chain := facts.getD i []
  facts.set! i ((n, f) :: chain)

def noFacts : Facts := Array.replicate factBuckets []

def hiddenLimit : Nat := 3

partial def union (limit : Nat) (a : List Name) : List Name → List Name
  | [] => a
  | n :: rest =>
    if isIn n a then union limit a rest
    else if limit != 0 && count 0 a ≥ limit then a
    else union limit (n :: a) rest

def Fact.join (a b : Fact) : Fact :=
  { axioms := union 0 a.axioms b.axioms, hidden := union hiddenLimit a.hidden b.hidden }

def first (d : Name) : List Name → Name
  | [] => d
  | n :: _ => n

/-- Constructors and recursors count with their type, so that the graph has no cycles. -/
def representative (env : Environment) (n : Name) : Name :=
  match env.find? n with
  | some (.ctorInfo v) =>
    match env.find? v.induct with
    | some (.inductInfo w) => first v.induct w.all
    | _ => v.induct
  | some (.recInfo v) => first n v.all
  | some (.inductInfo v) => first n v.all
  | _ => n

partial def collect (env : Environment) (self : Name) (acc : List Name) : List Name → List Name
  | [] => acc
  | n :: rest =>
    let m := representative env n
    if m == self || isIn m acc then collect env self acc rest
    else collect env self (m :: acc) rest

def usedIn (env : Environment) (self : Name) (acc : List Name) (e : Expr) : List Name :=
  collect env self acc e.getUsedConstants.toList

partial def usedInConstants (env : Environment) (self : Name) (acc : List Name) :
    List Name → List Name
  | [] => acc
  | n :: rest =>
    match env.find? n with
    | some (.inductInfo v) =>
      let acc := usedIn env self acc v.type
      usedInConstants env self (usedInConstants env self acc v.ctors) rest
    | some info => usedInConstants env self (usedIn env self acc info.type) rest
    | none => usedInConstants env self acc rest

def kindText (kind : ConstantKind) : String :=
  match kind with
  | .defn => "definition"
  | .thm => "theorem"
  | .axiom => "axiom"
  | .opaque => "opaque"
  | .quot => "quot"
  | .induct => "inductive"
  | .ctor => "constructor"
  | .recursor => "recursor"

def kindOf (env : Environment) (n : Name) : String :=
  match Compat.originalKind? env n with
  | some k => kindText k
  | none => "missing"

/-- What a constant adds itself, and the representatives of what it uses. -/
def direct (env : Environment) (n : Name) : Fact × List Name :=
  match env.find? n with
  | none => ({ hidden := [n] }, [])
  | some (.axiomInfo v) =>
    let own : Fact := if kindOf env n == "axiom" then { axioms := [n] } else { hidden := [n] }
    (own, usedIn env n [] v.type)
  | some (.inductInfo v) => ({}, usedInConstants env n [] v.all)
  | some (.quotInfo v) => ({}, usedIn env n [] v.type)
  | some info =>
    let used := usedIn env n [] info.type
    match info.value? (allowOpaque := true) with
    | some value => ({}, usedIn env n used value)
    | none => ({ hidden := [n] }, used)

inductive Step where
  | visit (n : Name)
  | finish (n : Name) (own : Fact) (uses : List Name)

partial def visits (tail : List Step) : List Name → List Step
  | [] => tail
  | n :: rest => .visit n :: visits tail rest

partial def joinAll (facts : Facts) (acc : Fact) : List Name → Fact
  | [] => acc
  | n :: rest =>
    match fact? facts n with
    | some f => joinAll facts (acc.join f) rest
    | none => joinAll facts acc rest

partial def settle (env : Environment) (facts : Facts) : List Step → Facts
  | [] => facts
  | .visit n :: rest =>
    match fact? facts n with
    | some _ => settle env facts rest
    | none =>
      let (own, uses) := direct env n
      settle env facts (visits (.finish n own uses :: rest) uses)
  | .finish n own uses :: rest => settle env (addFact facts n (joinAll facts own uses)) rest

abbrev FactCache := IO.Ref (List Name × Facts)

partial def describeAll (env : Environment) (facts : Facts) (acc : List String) :
    List Name → Facts × List String
  | [] => (facts, reverse acc)
  | n :: rest =>
    let m := representative env n
    let facts := settle env facts [.visit m]
    let f := (fact? facts m).getD {}
    let kind := if (env.find? n).isSome then kindOf env n else "missing"
    let f := if kind == "missing" then {} else f
    let text := "{\"name\":" ++ nameJson n ++ ",\"kind\":\"" ++ kind
      ++ "\",\"axioms\":" ++ namesJson [] f.axioms
      ++ ",\"unknown\":" ++ namesJson [] f.hidden
      ++ ",\"unknown_count\":" ++ toString (count 0 f.hidden) ++ "}"
    describeAll env facts (text :: acc) rest

def describe (cache : LibraryCache) (known : FactCache) (req : Json) : IO String := do
  let imports ← asNames "imports" (← field req "imports")
  let names ← asNames "names" (← field req "names")
  let env ← library cache imports
  let (key, facts) ← known.get
  let facts := if sameNames key imports then facts else noFacts
  let (facts, texts) := describeAll env facts [] names
  known.set (imports, facts)
  pure ("\"constants\":" ++ array texts)

end Lemmata
