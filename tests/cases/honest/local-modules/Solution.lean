import Shared.Defs
import Lemmas
theorem target (n : Nat) : double n = n + n := double_eq n
