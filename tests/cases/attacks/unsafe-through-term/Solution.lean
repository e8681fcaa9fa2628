-- The opaque constant needs an inhabitant, and that is where the gap is.
unsafe def wish : PLift (2 + 2 = 5) := unsafeCast ()
instance : Nonempty (PLift (2 + 2 = 5)) := ⟨⟨sorryAx _ false⟩⟩

theorem target : 2 + 2 = 5 := (unsafe wish : PLift (2 + 2 = 5)).down
