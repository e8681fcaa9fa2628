namespace Real
def Prime (n : Nat) : Prop := 1 < n ∧ ∀ m, m ∣ n → m = 1 ∨ m = n
end Real

open Real in
theorem target : Prime 9 := sorry
