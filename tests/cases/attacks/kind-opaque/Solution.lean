-- Checked by the kernel, and still no theorem.
opaque target : 2 + 2 = 4 := rfl
