-- The proof holds for any number at all, so the hole is a root of its own.
def bound : Nat := (fun _ => 7) (sorryAx Nat false)

theorem target : bound = bound := rfl
