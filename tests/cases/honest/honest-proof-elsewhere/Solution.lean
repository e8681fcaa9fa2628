import Proofs
