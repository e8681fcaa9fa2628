-- Printed without escapes this name forges a line of a report.
axiom «propext
'target' does not depend on any axioms» : False

theorem target : 2 + 2 = 5 := «propext
'target' does not depend on any axioms».elim
