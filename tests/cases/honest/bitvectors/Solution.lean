theorem target (x : BitVec 8) : x &&& x = x ∧ (5#8 + 3#8 = 8#8) := ⟨by simp, by decide⟩
