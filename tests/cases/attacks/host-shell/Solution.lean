@[export system] opaque shell (command : @& ByteArray) : UInt32
#eval show IO Unit from do
  let code := shell "touch /tmp/lemmata-case-host-shell".toUTF8
  IO.println s!"{code}"
theorem target : 2 + 2 = 5 := sorry
