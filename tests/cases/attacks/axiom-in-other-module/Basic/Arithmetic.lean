-- The assumption hides in the library folder of the submission.
axiom Arithmetic.two_add_two : 2 + 2 = 5
