theorem target (n : Nat) : (match n with | 0 => 0 | k+1 => k) ≤ n := sorry
