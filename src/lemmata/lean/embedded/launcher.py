"""How to start the embedded Lean: the complete command line of one Node process.

The process runs ``launcher.js`` under Node's permission model with exactly the files it needs.
Node calls that model no defence against hostile code, and neither does Lemmata: the border is the
launcher's import table, and an operating-system sandbox belongs around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lemmata.errors import ToolchainError

LAUNCHER: Final = Path(__file__).with_name("launcher.js")

#: Exit codes of a worker process; see ``launcher.js``. A standard error line that begins with
#: ``lemmata:`` says more.
EXIT_TRAP: Final = 86
EXIT_BY_PROGRAM: Final = 87
EXIT_START: Final = 88

#: Native stack, in KiB, that a process asks for (``ulimit -s``). With the usual 8 MiB ``decide`` on
#: a list of 3,000 elements overflows; with this it takes a second, and 100,000 nested calls of an
#: evaluated function work. Untouched stack costs nothing.
STACK_KIB: Final = 256 << 10
#: What V8 may use of it, and of the usual 8 MiB where the limit cannot be raised; the rest is for
#: C++ frames, such as the compiler's, on top of the deepest wasm frame.
V8_STACK_KIB: Final = STACK_KIB - 4096
V8_STACK_KIB_UNRAISED: Final = 7600

# A shell that replaces itself: the limit must be set before Node's main thread exists.
_START: Final = (
    "wide=$1 usual=$2 node=$3; shift 3; "
    'if ulimit -S -s "$0" 2>/dev/null; then size=$wide; else size=$usual; fi; '
    'exec "$node" --stack-size="$size" "$@"'
)

#: ``--wasm-lazy-validation`` saves 0.5 s (the module is pinned by hash). Liftoff alone needs the
#: least processor time up to some 2,000 requests.
_NODE_FLAGS: Final = (
    "--no-warnings",
    "--permission",
    "--allow-worker",
    "--disallow-code-generation-from-strings",
    "--wasm-lazy-validation",
    "--liftoff-only",
)


@dataclass(frozen=True)
class EmbeddedFiles:
    """The files of one installation.

    ``wasm`` is the package's ``lean.wasm``, ``glue`` the slim glue (``glue.slim``), ``library``
    the folder of ``.olean`` files, ``snapshot`` a folder made by ``snapshot.build`` or None.
    """

    wasm: Path
    glue: Path
    library: Path
    snapshot: Path | None = None


def embedded_argv(
    node: Path, root: EmbeddedFiles, scratch: Path, args: Sequence[str]
) -> tuple[list[str], dict[str, str], list[Path]]:
    """Command line, environment and readable paths that run ``lean`` with ``args``.

    The process must be started with ``scratch`` as its working directory, which the program sees
    as ``/work``; file names in ``args`` are relative to it. ``root.snapshot`` plays no part.

    Raises:
        ToolchainError: Node's permission flags cannot express one of the paths.
    """
    return _command(node, root, scratch, readable=(), mode=(), args=args)


def restore_argv(
    node: Path, root: EmbeddedFiles, scratch: Path
) -> tuple[list[str], dict[str, str], list[Path]]:
    """The same for a worker restored from ``root.snapshot``: one line in, one framed line out.

    Raises:
        ToolchainError: there is no snapshot, or a path cannot be expressed.
    """
    if root.snapshot is None:
        raise ToolchainError("there is no memory snapshot to restore; start the worker plainly")
    folder = root.snapshot.resolve()
    return _command(
        node, root, scratch, readable=(folder,), mode=("--restore", str(folder)), args=()
    )


def capture_argv(
    node: Path, root: EmbeddedFiles, scratch: Path, out: Path, args: Sequence[str]
) -> tuple[list[str], dict[str, str], list[Path]]:
    """The same for the run whose memory becomes the snapshot in ``out`` (below ``scratch``)."""
    return _command(
        node, root, scratch, readable=(), mode=("--capture", str(out.resolve())), args=args
    )


def _command(
    node: Path,
    root: EmbeddedFiles,
    scratch: Path,
    *,
    readable: Sequence[Path],
    mode: Sequence[str],
    args: Sequence[str],
) -> tuple[list[str], dict[str, str], list[Path]]:
    glue, wasm, library, work = (
        path.resolve() for path in (root.glue, root.wasm, root.library, scratch)
    )
    files = [LAUNCHER.resolve(), glue, wasm, library, *readable]
    _check_paths(files, work)
    argv = [
        "/bin/sh",
        "-c",
        _START,
        str(STACK_KIB),
        str(V8_STACK_KIB),
        str(V8_STACK_KIB_UNRAISED),
        str(node),
        *_NODE_FLAGS,
        *(f"--allow-fs-read={path}" for path in (*files, work)),
        f"--allow-fs-write={work}",
        str(LAUNCHER.resolve()),
        "--glue",
        str(glue),
        "--wasm",
        str(wasm),
        "--library",
        str(library),
        *mode,
        "--",
        *args,
    ]
    return argv, {"TZ": "UTC", "LC_ALL": "C.UTF-8"}, [node, *files]


def _check_paths(files: Sequence[Path], scratch: Path) -> None:
    for path in (*files, scratch):
        if "*" in str(path) or "," in str(path):
            raise ToolchainError(
                f"the path {path} holds a character that Node's permission flags read as a "
                "pattern; move it to a folder without '*' and ','"
            )
    # Node keeps the list as a tree of characters and loses a folder whose name is the beginning
    # of another entry's name.
    for path in files:
        if str(path).startswith(str(scratch)):
            raise ToolchainError(
                f"the scratch folder {scratch} may not contain {path}, nor be the beginning of "
                "its name; use another folder"
            )
