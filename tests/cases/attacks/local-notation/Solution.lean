-- The same three symbols, parsed by a notation of the submission.
local notation:50 (priority := high) a:51 " ∣ " b:51 => (a : Nat) < b

theorem target : 3 ∣ 7 := by decide
