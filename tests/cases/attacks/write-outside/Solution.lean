theorem target (n : Nat) : n + 0 = n := rfl

#eval show IO Unit from do
  try IO.FS.writeFile "/tmp/lemmata-case-write-outside" "here" catch _ => pure ()
  try IO.FS.writeFile "/work/../tmp/lemmata-case-write-outside" "here" catch _ => pure ()
  try IO.FS.writeFile "../../lemmata-case-write-outside" "here" catch _ => pure ()
