-- The kernel refuses safe declarations that use unsafe ones; the check is skipped here.
unsafe axiom wish : 2 + 2 = 5

set_option debug.skipKernelTC true in
theorem target : 2 + 2 = 5 := wish
