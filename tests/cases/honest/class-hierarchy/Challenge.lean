class Magma (α : Type) where
  op : α → α → α
class CommMagma (α : Type) extends Magma α where
  comm : ∀ a b : α, op a b = op b a
instance : CommMagma Nat where
  op := (· + ·)
  comm := Nat.add_comm

theorem target {α : Type} [CommMagma α] (a b c : α) :
    Magma.op (Magma.op a b) c = Magma.op c (Magma.op b a) := sorry
