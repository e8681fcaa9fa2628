def parity : Setoid Nat where
  r a b := a % 2 = b % 2
  iseqv := ⟨fun _ => rfl, Eq.symm, Eq.trans⟩
def Parity := Quotient parity
def Parity.mk (n : Nat) : Parity := Quotient.mk parity n
def Parity.isEven (p : Parity) : Bool :=
  Quotient.lift (s := parity) (fun n => n % 2 == 0) (fun a b (h : a % 2 = b % 2) => by simp [h]) p

theorem target (n : Nat) : Parity.mk (n + 2) = Parity.mk n ∧ (Parity.mk 4).isEven = true := sorry
