open Lean in
macro "flood" n:num : command => do
  let one ← `(#check Nat)
  return ⟨mkNullNode (Array.replicate n.getNat one.raw)⟩
flood 5000
theorem target : 2 + 2 = 5 := sorry
