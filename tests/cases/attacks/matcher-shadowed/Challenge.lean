def f (n : Nat) : Nat :=
  match n with
  | 0 => 1
  | _ + 1 => 2

theorem target : f 0 = 2 := sorry
