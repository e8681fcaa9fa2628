-- The third letter is U+03BF.
theorem twο_and_two : 2 + 2 = 4 := rfl
