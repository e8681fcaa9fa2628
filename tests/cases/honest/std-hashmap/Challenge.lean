import Std
theorem target (m : Std.HashMap Nat Nat) (k v : Nat) : (m.insert k v)[k]? = some v := sorry
