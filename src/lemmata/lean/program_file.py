"""The worker's program text as a file that ``lean --run`` can be given."""

from __future__ import annotations

from pathlib import Path

from lemmata.errors import ToolchainError
from lemmata.lean.programs import worker_source

FILE_NAME = "Worker.lean"


def write_worker(scratch: Path, version: str) -> str:
    """Write the worker for Lean ``version`` into ``scratch``; return the file's name there.

    Raises ``ToolchainError`` when the folder cannot be written.
    """
    path = scratch / FILE_NAME
    try:
        path.write_text(worker_source(version), encoding="utf-8")
        path.chmod(0o644)
    except OSError as error:
        raise ToolchainError(f"cannot write {path} ({error.strerror}).") from error
    return FILE_NAME
