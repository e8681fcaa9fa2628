"""A worker's linear memory, kept so that the next worker starts from it in about a second.

Built once per installation: the program is run as usual up to its first read of standard input,
by when it has imported what it wants warm and has printed ``LEMMATA-HANDLE <address>``, the
address of its closure ``String -> IO String``. The launcher then writes the memory and ends. A
restored process calls that closure for each line it reads.

A snapshot counts only after processes restored from it gave known answers, and only for exactly
the files, program and Node it was made with: see ``load``.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from lemmata.errors import ToolchainError
from lemmata.lean.embedded.launcher import (
    LAUNCHER,
    EmbeddedFiles,
    capture_argv,
    restore_argv,
)

SCHEMA: Final = "lemmata-snapshot/1"
PAGES: Final = "pages"
STATE: Final = "state.json"
MANIFEST: Final = "manifest.json"

#: Restored processes that must give the known answers before a snapshot counts.
TRIALS: Final = 2
#: Seconds for the run that is captured, and for one trial.
CAPTURE_SECONDS: Final = 300.0
TRIAL_SECONDS: Final = 120.0

_PROGRAM: Final = "Program.lean"


class SnapshotError(ToolchainError):
    """A snapshot could not be built, or is not the one for these files."""


@dataclass(frozen=True)
class KnownAnswer:
    """A request line (no newline) and what its reply line must satisfy."""

    request: str
    accepts: Callable[[str], bool]


@dataclass(frozen=True)
class Pins:
    """What a snapshot belongs to and consists of; all digests are sha256 in hex.

    ``library`` and ``wasm`` are recomputed only when sizes or times of the files differ from
    those in ``stamps``, which are digests over (path, size, modification time).
    """

    schema: str
    glue: str
    wasm: str
    library: str
    program: str
    launcher: str
    node: str
    pages: str
    state: str
    stamps: dict[str, str]


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that passed its trials; ``folder`` is what ``EmbeddedFiles.snapshot`` wants."""

    folder: Path
    pins: Pins


def build(
    node: Path,
    files: EmbeddedFiles,
    program_text: str,
    out_dir: Path,
    known: Sequence[KnownAnswer],
) -> Snapshot:
    """Build, try and publish a snapshot in ``out_dir``, which must be absent or empty.

    The folder appears complete or not at all.

    Raises:
        SnapshotError: the run failed, or a restored process did not give a known answer.
    """
    if not known:
        raise SnapshotError("a snapshot cannot be tried without known answers; give at least one")
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".snapshot-", dir=out_dir.parent) as temporary:
        work = Path(temporary).resolve()
        made = work / "capture"
        made.mkdir()
        _capture(node, files, program_text, work, made)
        pins = Pins(
            pages=_digest(made / PAGES),
            state=_digest(made / STATE),
            stamps=_stamps(files, made / PAGES),
            **_inputs(node, files, program_text),
            wasm=_digest(files.wasm),
            library=_tree_digest(files.library),
        )
        candidate = replace(files, snapshot=made)
        for _ in range(TRIALS):
            _try(node, candidate, known)
        (made / MANIFEST).write_text(json.dumps(asdict(pins), indent=1), encoding="utf-8")
        try:
            made.rename(out_dir)
        except OSError as error:
            raise SnapshotError(
                f"cannot publish the snapshot as {out_dir} ({error.strerror}); remove that folder"
            ) from error
    return Snapshot(out_dir, pins)


def load(node: Path, files: EmbeddedFiles, program_text: str, folder: Path) -> Snapshot:
    """The snapshot in ``folder`` when it is whole and belongs to exactly these inputs.

    Raises:
        SnapshotError: it is absent, damaged, or was made with something else; the message says
            what differs. The caller then starts the worker plainly or builds anew.
    """
    try:
        stored = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        pins = Pins(**stored)
    except (OSError, ValueError, TypeError) as error:
        raise SnapshotError(f"there is no usable snapshot in {folder} ({error})") from error
    expected: dict[str, str] = _inputs(node, files, program_text)
    try:
        stamps = _stamps(files, folder / PAGES)
        expected["state"] = _digest(folder / STATE)
        if stamps["wasm"] != pins.stamps.get("wasm"):
            expected["wasm"] = _digest(files.wasm)
        if stamps["library"] != pins.stamps.get("library"):
            expected["library"] = _tree_digest(files.library)
        if stamps["pages"] != pins.stamps.get("pages"):
            expected["pages"] = _digest(folder / PAGES)
    except OSError as error:
        raise SnapshotError(
            f"the snapshot in {folder} cannot be checked ({error.strerror}: {error.filename})"
        ) from error
    for name, value in expected.items():
        if getattr(pins, name) != value:
            raise SnapshotError(
                f"the snapshot in {folder} does not fit: its {name} is {getattr(pins, name)[:16]}, "
                f"{value[:16]} is needed; build it anew"
            )
    return Snapshot(folder, pins)


def node_version(node: Path) -> str:
    """What ``node --version`` says.

    Raises:
        SnapshotError: it does not run.
    """
    try:
        done = subprocess.run([node, "--version"], capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SnapshotError(f"{node} does not run ({error})") from error
    return done.stdout.decode().strip()


def _inputs(node: Path, files: EmbeddedFiles, program_text: str) -> dict[str, str]:
    return {
        "schema": SCHEMA,
        "glue": _digest(files.glue),
        "program": hashlib.sha256(program_text.encode()).hexdigest(),
        "launcher": _digest(LAUNCHER),
        "node": node_version(node),
    }


def _capture(node: Path, files: EmbeddedFiles, program_text: str, work: Path, made: Path) -> None:
    (work / _PROGRAM).write_text(program_text, encoding="utf-8")
    argv, env, _ = capture_argv(node, files, work, made, ["--run", _PROGRAM, "--snapshot"])
    done = _run(argv, env, work, b"", CAPTURE_SECONDS, "the run to be captured")
    if done.returncode != 0 or not (made / STATE).is_file():
        raise SnapshotError(
            f"the run to be captured ended with status {done.returncode}: {_last_words(done)}"
        )


def _try(node: Path, files: EmbeddedFiles, known: Sequence[KnownAnswer]) -> None:
    """One fresh process: all known answers, in order, and a clean end."""
    assert files.snapshot is not None
    with tempfile.TemporaryDirectory(prefix="lemmata-trial-") as temporary:
        scratch = Path(temporary).resolve()
        argv, env, _ = restore_argv(node, files, scratch)
        requests = "".join(answer.request + "\n" for answer in known).encode()
        done = _run(argv, env, scratch, requests, TRIAL_SECONDS, "a trial of the snapshot")
    replies = [line for line in done.stdout.decode(errors="replace").splitlines() if line]
    if done.returncode != 0:
        raise SnapshotError(
            f"a restored process ended with status {done.returncode}: {_last_words(done)}"
        )
    if len(replies) != len(known):
        raise SnapshotError(
            f"a restored process gave {len(replies)} replies to {len(known)} requests"
        )
    for answer, reply in zip(known, replies, strict=True):
        if not answer.accepts(reply):
            raise SnapshotError(
                f"a restored process answered {reply[:200]!r} to {answer.request[:200]!r}"
            )


def _run(
    argv: Sequence[str],
    env: dict[str, str],
    cwd: Path,
    stdin: bytes,
    seconds: float,
    what: str,
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            argv, env=env, cwd=cwd, input=stdin, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SnapshotError(f"{what} did not end within {seconds:.0f} s") from error
    except OSError as error:
        raise SnapshotError(f"{what} could not be started ({error.strerror})") from error


def _last_words(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr + b"\n" + done.stdout).decode(errors="replace").strip().splitlines()
    return lines[0][:300] if lines else "it said nothing"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tree_digest(folder: Path) -> str:
    """Over the relative path and the content of every file below ``folder``, in sorted order."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\0{_digest(path)}\n".encode())
    return digest.hexdigest()


def _stamps(files: EmbeddedFiles, pages: Path) -> dict[str, str]:
    library = sorted(path for path in files.library.rglob("*") if path.is_file())
    return {
        "wasm": _stamp([files.wasm]),
        "library": _stamp(library),
        "pages": _stamp([pages]),
    }


def _stamp(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        status = path.stat()
        digest.update(f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def discard(snapshot: Snapshot) -> None:
    """Remove the snapshot's folder."""
    shutil.rmtree(snapshot.folder)
