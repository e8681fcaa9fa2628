inductive Rose
  | node : List Rose → Rose

def Rose.count : Rose → Nat
  | .node ts => 1 + (ts.attach.map fun ⟨t, _⟩ => t.count).reverse.sum
termination_by t => sizeOf t

theorem target : True ∧ ∃ r : Rose, r = .node [] := ⟨trivial, .node [], rfl⟩
