-- True anyway; the axiom is still an axiom.
theorem target : True := Lean.trustCompiler
