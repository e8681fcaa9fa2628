"""The base of the native kernel for a toolchain: its library, exported once and checked once.

A worker of the toolchain, in the kernel role, writes the library out; the native kernel replays
it and saves what it accepted (``lemmata.lean.native.base``). Which is found again by a key over
everything that had a part in it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from lemmata import cache
from lemmata.errors import LemmataError, ToolchainError
from lemmata.lean import native
from lemmata.lean.artifact import artifact, key_of
from lemmata.lean.embedded.report import Reporter
from lemmata.lean.launch import Launch
from lemmata.lean.native.base import build_base
from lemmata.lean.native.ffi import LIBRARY_SHA256, file_sha256, library_path
from lemmata.lean.programs import worker_source
from lemmata.lean.worker import Call, Limits, Worker

IMPORTS: tuple[tuple[str, ...], ...] = (("Init",),)
KIND = "base"

_EXPORT_FILE = "base.ndjson"
_EXPORT_SECONDS = 900.0
_CHECKING_MODULES = (
    *("base.py", "build.py", "declarations.py", "ffi.py", "kernel.py", "replay.py", "terms.py"),
)


def base_key(library: str, version: str) -> str:
    """Key of the base; ``library`` is a digest of the toolchain, ``version`` its Lean version."""
    folder = Path(native.__path__[0])
    return key_of(
        library,
        worker_source(version),
        LIBRARY_SHA256,
        repr(IMPORTS),
        *((folder / name).read_bytes() for name in _CHECKING_MODULES),
    )


def find_kernel_base(parent: Path, key: str) -> Path | None:
    """The base in ``parent`` that has this key, or None."""
    folder = parent / f"{KIND}-{key}"
    return folder if folder.is_dir() else None


def native_kernel_problem() -> str | None:
    """Why the native kernel cannot be used on this machine, or None when it can."""
    try:
        path = library_path()
        if file_sha256(path) != LIBRARY_SHA256:
            return f"{path} is not the pinned build; run: pip install 'lemmata[embedded]'"
    except LemmataError as error:
        return str(error)
    except OSError as error:
        return f"the native kernel library cannot be read ({error.strerror})"
    return None


def make_kernel_base(
    worker: Callable[[Path], Launch], parent: Path, key: str, reporter: Reporter
) -> Path:
    """Make the base in ``parent`` unless it is there.  The caller holds the lock.

    ``worker`` gives the launch of a worker of the toolchain in a scratch folder. It takes about a
    minute, and must not be called from inside an event loop. Raises ``ToolchainError`` (a
    ``NativeKernelError`` where the kernel is to blame) or ``WorkerError``.
    """

    def build(staging: Path) -> None:
        # The export is many times larger than the base; it goes when the base is made.
        with tempfile.TemporaryDirectory(dir=parent, prefix=cache.STAGING) as folder:
            scratch = Path(folder)
            reporter.note("writing out Lean's library for the native kernel (about a minute)")
            asyncio.run(_export(worker(scratch), _EXPORT_FILE))
            export = scratch / _EXPORT_FILE
            if not export.is_file():
                raise ToolchainError("the worker wrote no export of the library.")
            reporter.note("checking the library with the native kernel")
            build_base(export, staging, IMPORTS)

    return artifact(parent, KIND, key, build)


async def _export(launch: Launch, file: str) -> None:
    limits = Limits(start_s=300.0, wall_s=_EXPORT_SECONDS)
    greeting = (Call("hello", {"role": "kernel"}),)
    async with Worker(launch, limits, greeting=greeting) as worker:
        imports = [list(name) for name in IMPORTS]
        await worker.request(
            "export", imports=imports, roots=None, file=file, kinds_file="kinds.json"
        )
