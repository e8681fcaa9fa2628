private def bound : Nat := 3
def limit : Nat := bound
