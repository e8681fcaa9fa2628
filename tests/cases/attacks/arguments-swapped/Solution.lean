-- The names are exchanged, so that the text of the conclusion is the same.
theorem target (b a : Nat) (h : b ≤ a) : b ≤ a := h
