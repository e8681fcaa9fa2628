theorem target (p : Nat → Prop) : (∃ n, p n) ∨ ∀ n, ¬ p n := by
  rcases Classical.em (∃ n, p n) with h | h
  · exact .inl h
  · exact .inr fun n hn => h ⟨n, hn⟩
