-- The `unsafe` term elaborator makes an opaque constant implemented by the unsafe one.
unsafe def wish : PLift (2 + 2 = 5) := unsafeCast ()
instance : Nonempty (PLift (2 + 2 = 5)) := ⟨⟨sorryAx _ false⟩⟩
opaque granted : PLift (2 + 2 = 5)

theorem target : 2 + 2 = 5 := (unsafe wish : PLift (2 + 2 = 5)).down
