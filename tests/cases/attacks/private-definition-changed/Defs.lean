private def bound : Nat := 10
def limit : Nat := bound
