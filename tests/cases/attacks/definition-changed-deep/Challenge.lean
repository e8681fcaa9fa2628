def step (n : Nat) : Nat := if n % 2 = 0 then n / 2 else 3 * n + 1
def iterate : Nat → Nat → Nat
  | 0, n => n
  | k + 1, n => iterate k (step n)
def Reaches (n : Nat) : Prop := ∃ k, iterate k n = 1

theorem target : ∀ n, 0 < n → Reaches n := sorry
