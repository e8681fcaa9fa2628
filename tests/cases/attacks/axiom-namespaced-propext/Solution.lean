-- `Logic.propext` is not `propext`.
namespace Logic
axiom propext : False
end Logic

open Logic in
theorem target : 2 + 2 = 5 := Logic.propext.elim
