inductive Tree (α : Type u)
  | node : α → List (Tree α) → Tree α

mutual
def Tree.size {α : Type u} : Tree α → Nat
  | .node _ ts => 1 + sizes ts
def sizes {α : Type u} : List (Tree α) → Nat
  | [] => 0
  | t :: ts => t.size + sizes ts
end

theorem target {α : Type u} (t : Tree α) : 0 < t.size := by
  cases t with
  | node a ts => simp [Tree.size]; omega
