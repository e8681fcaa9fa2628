prelude

-- A checker that treats `Quot.lift` specially never looks at this proof.
inductive False : Prop where

axiom gap : False

theorem Quot.lift : False := gap
