theorem target : @Eq Nat Nat.zero (Nat.succ Nat.zero) := sorry
