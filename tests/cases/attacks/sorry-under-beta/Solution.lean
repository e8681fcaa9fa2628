-- The statement is true and the reduced proof is fine; the term as given is not.
theorem target : 2 + 2 = 4 := (fun (_ : 2 + 2 = 5) => rfl) (sorryAx _ false)
