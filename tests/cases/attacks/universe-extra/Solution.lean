-- The type is the same text; the constant takes a universe.
theorem target.{u} (p : Prop) (h : p) : p := (fun (_ : PUnit.{u}) => h) ⟨⟩
