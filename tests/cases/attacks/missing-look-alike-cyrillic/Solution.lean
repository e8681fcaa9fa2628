-- The second letter is U+0430; guillemets let it be a name.
theorem «tаrget» : 2 + 2 = 4 := rfl
