inductive Vec (α : Type u) : Nat → Type u
  | nil : Vec α 0
  | cons {n : Nat} : α → Vec α n → Vec α (n + 1)

def Vec.toList {α : Type u} : {n : Nat} → Vec α n → List α
  | _, .nil => []
  | _, .cons a v => a :: v.toList

theorem target {α : Type u} {n : Nat} (v : Vec α n) : v.toList.length = n := by
  induction v with
  | nil => rfl
  | cons a v ih => simp [Vec.toList, ih]
