#eval show IO Unit from do
  try
    let child ← IO.Process.spawn { cmd := "/bin/sh", args := #["-c", "touch /tmp/lemmata-case-spawn"] }
    let _ ← child.wait
  catch _ => pure ()
theorem target : 2 + 2 = 5 := sorry
