-- A proposition defined so that it has a proof.
inductive Goal : Prop where
  | target
