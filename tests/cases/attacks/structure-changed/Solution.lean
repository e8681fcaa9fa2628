-- The two fields trade places.
structure Interval where
  high : Nat
  low : Nat

def Interval.width (i : Interval) : Nat := i.high - i.low

theorem target : (Interval.mk 2 9).width = 0 := rfl
