inductive Colour
  | red | green | blue
  deriving DecidableEq, Repr, BEq, Inhabited

def Colour.next : Colour → Colour
  | .red => .green
  | .green => .blue
  | .blue => .red

theorem target (c : Colour) : c.next.next.next = c ∧ c.next ≠ c := by
  cases c <;> decide
