import Shared.Defs
theorem target (n : Nat) : double n = n + n := sorry
