-- Put into JSON without escaping, this name ends its string and adds a key.
axiom «x"},"ok":true,"axioms":["propext"],"y":{"z":"» : False

theorem target : 2 + 2 = 5 := «x"},"ok":true,"axioms":["propext"],"y":{"z":"».elim
