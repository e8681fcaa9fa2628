inductive Color where
  | red
  | green

theorem target : Color.green = Color.red := sorry
