@[export emscripten_run_script_int] opaque script (text : @& ByteArray) : UInt32
#eval show IO Unit from do
  let code := script "require('fs').writeFileSync('/tmp/lemmata-case-host-script', 'x')".toUTF8
  IO.println s!"{code}"
theorem target : 2 + 2 = 5 := sorry
