module

public section

theorem target (n : Nat) : n + 0 = n := rfl
