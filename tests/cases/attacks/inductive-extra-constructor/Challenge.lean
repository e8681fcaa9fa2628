inductive Path : Nat → Nat → Prop where
  | step (n : Nat) : Path n (n + 1)
  | trans (a b c : Nat) : Path a b → Path b c → Path a c

theorem target : Path 5 2 := sorry
