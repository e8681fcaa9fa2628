namespace Geometry
section
variable {α : Type} [Add α]
def twice (a : α) : α := a + a
end
end Geometry

namespace Geometry
open Nat in
theorem helper (n : Nat) : n + n = 2 * n := (Nat.two_mul n).symm
theorem target (n : Nat) : twice n = 2 * n := helper n
end Geometry
