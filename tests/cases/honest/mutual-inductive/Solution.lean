mutual
inductive Even : Nat → Prop
  | zero : Even 0
  | succ {n : Nat} : Odd n → Even (n + 1)
inductive Odd : Nat → Prop
  | succ {n : Nat} : Even n → Odd (n + 1)
end

theorem target (n : Nat) (h : Even n) : Odd (n + 1) ∧ Even (n + 2) :=
  ⟨.succ h, .succ (.succ h)⟩
