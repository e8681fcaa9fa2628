-- The name that the compiler of pattern matching would have chosen is taken.
def f.match_1.{u} (motive : Nat → Sort u) (n : Nat) (zero : Unit → motive 0)
    (succ : (k : Nat) → motive k.succ) : motive n :=
  Nat.casesOn n (zero ()) succ

def f (n : Nat) : Nat := f.match_1 (fun _ => Nat) n (fun _ => 2) (fun _ => 1)

theorem target : f 0 = 2 := rfl
