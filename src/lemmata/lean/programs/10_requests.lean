/-! Reading requests and writing replies. -/

namespace Lemmata
open Lean

/-! Calls of library functions that go through these three are never inlined: the embedded build
does not ship the private code that inlining would need. -/

@[noinline] def call1 {a b : Type} (f : a → b) (x : a) : b := f x
@[noinline] def call2 {a b c : Type} (f : a → b → c) (x : a) (y : b) : c := f x y
@[noinline] def call3 {a b c d : Type} (f : a → b → c → d) (x : a) (y : b) (z : c) : d := f x y z

def refuse {α : Type} (why : String) : IO α := throw (IO.userError why)

def field (j : Json) (key : String) : IO Json :=
  match j.getObjVal? key with
  | .ok v => pure v
  | .error _ => refuse ("the request has no field \"" ++ key ++ "\"")

def field? (j : Json) (key : String) : Json :=
  match j.getObjVal? key with
  | .ok v => v
  | .error _ => Json.null

def asText (what : String) : Json → IO String
  | .str s => pure s
  | _ => refuse (what ++ " must be a string")

def asBool (what : String) : Json → IO Bool
  | .bool b => pure b
  | _ => refuse (what ++ " must be true or false")

def asNat (what : String) (j : Json) : IO Nat :=
  match j.getNat? with
  | .ok n => pure n
  | .error _ => refuse (what ++ " must be a natural number")

def asList (what : String) : Json → IO (List Json)
  | .arr a => pure a.toList
  | _ => refuse (what ++ " must be an array")

partial def nameOf (what : String) (acc : Name) : List Json → IO Name
  | [] => pure acc
  | .str s :: rest => nameOf what (Name.str acc s) rest
  | j :: rest =>
    match j.getNat? with
    | .ok n => nameOf what (Name.num acc n) rest
    | .error _ => refuse (what ++ " must be an array of strings and natural numbers")

def asName (what : String) (j : Json) : IO Name := do
  nameOf what Name.anonymous (← asList what j)

partial def namesOf (what : String) (acc : List Name) : List Json → IO (List Name)
  | [] => pure acc
  | j :: rest => do
    let n ← asName what j
    namesOf what (n :: acc) rest

def reverse {α : Type} (l : List α) : List α := call1 List.reverse l

partial def count {α : Type} (n : Nat) : List α → Nat
  | [] => n
  | _ :: xs => count (n + 1) xs

def asNames (what : String) (j : Json) : IO (List Name) := do
  let names ← namesOf what [] (← asList what j)
  pure (reverse names)

def quote (s : String) : String := (Json.str s).compress

def bool (b : Bool) : String := if b then "true" else "false"

partial def joined (acc : String) : List String → String
  | [] => acc
  | [x] => acc ++ x
  | x :: xs => joined (acc ++ x ++ ",") xs

def array (items : List String) : String := "[" ++ joined "" items ++ "]"

partial def nameParts (acc : List String) : Name → List String
  | .anonymous => acc
  | .str p s => nameParts (quote s :: acc) p
  | .num p n => nameParts (toString n :: acc) p

def nameJson (n : Name) : String := array (nameParts [] n)

end Lemmata
