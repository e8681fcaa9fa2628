/-! Libraries that were imported, kept for the next request. -/

namespace Lemmata
open Lean

/-- The environments of the last few import lists, the latest first. -/
abbrev LibraryCache := IO.Ref (List (List Name × Environment))

partial def sameNames : List Name → List Name → Bool
  | [], [] => true
  | a :: as, b :: bs => a == b && sameNames as bs
  | _, _ => false

partial def cached? (modules : List Name) : List (List Name × Environment) → Option Environment
  | [] => none
  | (key, env) :: rest => if sameNames key modules then some env else cached? modules rest

partial def keep (n : Nat) (acc : List (List Name × Environment)) :
    List (List Name × Environment) → List (List Name × Environment)
  | [] => reverse acc
  | x :: xs => if n == 0 then reverse acc else keep (n - 1) (x :: acc) xs

/-- Imports are kept for the last three import lists; more would only cost memory. -/
def library (cache : LibraryCache) (modules : List Name) : IO Environment := do
  let known ← cache.get
  match cached? modules known with
  | some env => pure env
  | none => do
    let env ← Compat.importLibrary modules
    cache.set ((modules, env) :: keep 2 [] known)
    pure env

end Lemmata
