-- One component with a dot inside is not the two components of the permitted axiom.
axiom «Quot.sound» : False

theorem target : 2 + 2 = 5 := «Quot.sound».elim
