-- The definitions of the challenge.
def weight (n : Nat) : Nat := 2 * n
