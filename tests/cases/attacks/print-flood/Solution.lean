theorem target (n : Nat) : n + 0 = n := rfl

partial def flood (line : String) : IO Unit := do
  (← IO.getStdout).putStr line
  flood line
#eval show IO Unit from do
  let line := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n"
  let line := line ++ line ++ line ++ line
  let line := line ++ line ++ line ++ line
  let line := line ++ line ++ line ++ line
  flood line
