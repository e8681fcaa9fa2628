universe u v w
structure Pair (α : Type u) (β : Type v) where
  fst : α
  snd : β
def Pair.map {α : Type u} {β : Type v} {γ : Type w} (f : β → γ) (p : Pair α β) : Pair α γ :=
  ⟨p.fst, f p.snd⟩

theorem target {α : Type u} {β : Type v} (p : Pair α β) : p.map id = p := rfl
