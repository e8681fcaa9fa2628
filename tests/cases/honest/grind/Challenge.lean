theorem target (a b c : Int) (f : Int → Int) (h : a = b) (g : b = c + 1) : f a = f (c + 1) := sorry
