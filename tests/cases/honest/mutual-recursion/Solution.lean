mutual
def even : Nat → Bool
  | 0 => true
  | n + 1 => odd n
def odd : Nat → Bool
  | 0 => false
  | n + 1 => even n
end

theorem even_two (n : Nat) : even (n + 2) = even n := by simp [even, odd]

theorem target (n : Nat) : even (n + n) = true := by
  induction n with
  | zero => simp [even]
  | succ n ih =>
    have h : n + 1 + (n + 1) = (n + n) + 2 := by omega
    rw [h, even_two, ih]
