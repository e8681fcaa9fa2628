inductive Rose
  | node : List Rose → Rose
theorem target : True ∧ ∃ r : Rose, r = .node [] := sorry
