-- Only the kernel checks `decide +kernel`, and it is switched off.
set_option debug.skipKernelTC true

theorem target : 2 + 2 = 5 := by decide +kernel
