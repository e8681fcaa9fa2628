namespace Geometry
section
variable {α : Type} [Add α]
def twice (a : α) : α := a + a
end
end Geometry

namespace Geometry
theorem target (n : Nat) : twice n = 2 * n := sorry
end Geometry
