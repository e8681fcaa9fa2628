set_option maxHeartbeats 1 in
theorem target : ∀ a b : Fin 64, a.val + b.val = b.val + a.val := by omega
