def pred (n : Nat) : Nat := match n with | 0 => 0 | k+1 => k
theorem target (n : Nat) : pred n ≤ n := sorry
