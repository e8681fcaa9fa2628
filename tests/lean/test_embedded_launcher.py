"""The launcher by itself, with no sandbox around it: what elaborated code can reach, and the
snapshot. The border is the launcher's import table and Node's permissions."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

import pytest

from lemmata.errors import ToolchainError
from lemmata.lean.embedded import glue
from lemmata.lean.embedded.snapshot import PAGES, STATE, SnapshotError, load
from lemmata.lean.programs import worker_source
from lemmata.lean.toolchain import EmbeddedToolchain
from lemmata.lean.worker import Call, Limits, Reply, Worker, WorkerError

MARKER = Path(tempfile.gettempdir()) / "lemmata-test-launcher-marker"

ATTACKS = {
    "shell": f"""
@[export system] opaque shell (command : @& ByteArray) : UInt32
#eval show IO Unit from do IO.println s!"{{shell "touch {MARKER}".toUTF8}}"
""",
    "shell by the glue's name": f"""
@[export _emscripten_system] opaque shell (command : @& ByteArray) : UInt32
#eval show IO Unit from do IO.println s!"{{shell "touch {MARKER}".toUTF8}}"
""",
    "script": f"""
@[export emscripten_run_script_int] opaque script (text : @& ByteArray) : UInt32
#eval show IO Unit from do
  IO.println s!"{{script "require('fs').writeFileSync('{MARKER}', 'x')".toUTF8}}"
""",
    "script without a result": f"""
@[export emscripten_run_script] opaque script (text : @& ByteArray) : UInt32
#eval show IO Unit from do
  IO.println s!"{{script "require('fs').writeFileSync('{MARKER}', 'x')".toUTF8}}"
""",
    "dlopen": """
@[export dlopen] opaque dlopen (name : @& ByteArray) (flags : UInt32) : UInt32
#eval show IO Unit from do IO.println s!"{dlopen "/work/evil.so".toUTF8 2}"
""",
    "socket": """
@[export socket] opaque socket (domain kind protocol : UInt32) : UInt32
#eval show IO Unit from do IO.println s!"{socket 2 1 0}"
""",
    "fetch": """
@[export emscripten_wget_data] opaque fetch (url : @& ByteArray) : UInt32
#eval show IO Unit from do IO.println s!"{fetch "http://127.0.0.1:1/".toUTF8}"
""",
    "spawn": f"""
#eval show IO Unit from do
  let child ← IO.Process.spawn {{ cmd := "/bin/sh", args := #["-c", "touch {MARKER}"] }}
  let _ ← child.wait
""",
    "write outside": f"""
#eval IO.FS.writeFile "{MARKER}" "x"
""",
    "write by a way up": f"""
#eval IO.FS.writeFile "../../../../..{MARKER}" "x"
""",
    "write to the library": """
#eval IO.FS.writeFile "/lean/Init.olean" "x"
""",
    "remove from the library": """
#eval IO.FS.removeFile "/lean/Init.olean"
""",
    "move out of the library": """
#eval IO.FS.rename "/lean/Init.olean" "/work/Init.olean"
""",
}

READS = {
    "a host file": """
#eval show IO Unit from do IO.println ("READ " ++ (← IO.FS.readFile "/etc/passwd"))
""",
    "a host folder": """
#eval show IO Unit from do
  for entry in (← System.FilePath.readDir "/etc") do IO.println ("READ " ++ entry.fileName)
""",
    "the process": """
#eval show IO Unit from do IO.println ("READ " ++ (← IO.FS.readFile "/proc/self/environ"))
""",
    "the environment": """
#eval show IO Unit from do
  match ← IO.getEnv "LEMMATA_TEST_SECRET" with
  | some value => IO.println ("READ " ++ value)
  | none => pure ()
""",
    "a link": """
#eval show IO Unit from do IO.println ("READ " ++ (← IO.FS.readFile "link"))
""",
}


async def elaborate(worker: Worker, text: str) -> Reply:
    return await worker.request(
        "elaborate",
        imports=[["Init"]],
        modules=[{"module": ["Attack"], "text": text}],
        options={},
        export="attack.ndjson",
    )


def worker_in(embedded: EmbeddedToolchain, scratch: Path) -> Worker:
    greeting = (Call("hello", {"role": "elaborator"}),)
    return Worker(embedded.worker(scratch), Limits(wall_s=60.0), greeting=greeting)


async def test_attacks_fail_and_the_worker_goes_on(
    embedded: EmbeddedToolchain, tmp_path: Path
) -> None:
    library = embedded.prepared.installed.library / "Init.olean"
    before = library.read_bytes()
    MARKER.unlink(missing_ok=True)
    async with worker_in(embedded, tmp_path) as worker:
        for name, text in ATTACKS.items():
            # A symbol that is not given out leaves the interpreter with the opaque's default value,
            # so an attack may end in an error, in 0, or with the process; never on the host.
            with contextlib.suppress(WorkerError):
                await elaborate(worker, text)
            assert not MARKER.exists(), f"{name} wrote to the host"
            assert library.read_bytes() == before, f"{name} changed the library"
        reply = await elaborate(worker, "theorem fine : 1 + 1 = 2 := rfl\n")
        assert reply["messages"] == []


async def test_nothing_of_the_host_is_read(
    embedded: EmbeddedToolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEMMATA_TEST_SECRET", "secret")
    (tmp_path / "link").symlink_to("/etc/passwd")
    async with worker_in(embedded, tmp_path) as worker:
        for name, text in READS.items():
            reply = await elaborate(worker, text)
            told = "".join(m["text"] for m in reply["messages"] if m["severity"] != "error")
            assert "READ " not in told + reply.printed, name


async def test_recursion_without_end_ends_the_process(
    embedded: EmbeddedToolchain, tmp_path: Path
) -> None:
    """A stack that ran over is never used again: the process ends, and the next one answers."""
    text = """
def deep : Nat → Nat
  | 0 => 0
  | n + 1 => deep n + 1
#eval deep 1000000000
"""
    async with worker_in(embedded, tmp_path) as worker:
        with pytest.raises(WorkerError):
            await elaborate(worker, text)
        reply = await elaborate(worker, "theorem fine : 1 + 1 = 2 := rfl\n")
        assert reply["messages"] == []
        assert worker.starts == 2


async def test_ordinary_depth_works(embedded: EmbeddedToolchain, tmp_path: Path) -> None:
    text = "theorem long : (List.range 1500).length = 1500 := by decide\n"
    async with worker_in(embedded, tmp_path) as worker:
        reply = await elaborate(worker, "set_option maxRecDepth 100000\n" + text)
        assert [m["text"] for m in reply["messages"] if m["severity"] == "error"] == []


@pytest.mark.parametrize("part", [PAGES, STATE])
def test_a_damaged_snapshot_is_not_used(
    embedded: EmbeddedToolchain, tmp_path: Path, part: str
) -> None:
    assert embedded.prepared.snapshot is not None
    copy = tmp_path / "snapshot"
    shutil.copytree(embedded.prepared.snapshot, copy)
    node, files = embedded.node.path, embedded.prepared.files
    text = worker_source(embedded.version)
    path = copy / part
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(SnapshotError, match="does not fit"):
        load(node, files, text, copy)
    with pytest.raises(SnapshotError, match="does not fit"):
        load(node, files, text + "\n", embedded.prepared.snapshot)


def test_the_glue_must_be_the_pinned_one(embedded: EmbeddedToolchain) -> None:
    text = embedded.prepared.installed.glue.read_bytes()
    with pytest.raises(ToolchainError):
        glue.slim(text + b"\n")


@pytest.mark.parametrize("count", [0, 2])
def test_a_mend_that_does_not_match_exactly_once_fails(count: int) -> None:
    mend = glue.MENDS[0]
    with pytest.raises(ToolchainError):
        glue.apply(mend.old * count, mend)
