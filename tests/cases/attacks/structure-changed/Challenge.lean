structure Interval where
  low : Nat
  high : Nat

def Interval.width (i : Interval) : Nat := i.high - i.low

theorem target : (Interval.mk 2 9).width = 0 := sorry
