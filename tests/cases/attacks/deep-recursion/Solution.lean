theorem target (n : Nat) : n + 0 = n := rfl

def deep : Nat → Nat
  | 0 => 0
  | n + 1 => deep n + 1
#eval deep 1000000000
