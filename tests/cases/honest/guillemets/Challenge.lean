def «a.b c» : Nat := 3
theorem «the target».«1» : «a.b c» = 3 := sorry
