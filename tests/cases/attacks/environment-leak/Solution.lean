#eval show IO Unit from do
  for name in ["HOME", "PATH", "USER"] do
    match ← IO.getEnv name with
    | some value => IO.println value
    | none => pure ()
theorem target : 2 + 2 = 5 := sorry
