theorem two_and_two : 2 + 2 = 4 := sorry
