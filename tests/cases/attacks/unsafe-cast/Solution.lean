-- Unsafe declarations may use anything, and are no theorems.
unsafe def target : 2 + 2 = 5 := unsafeCast ()
