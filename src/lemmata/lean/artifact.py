"""Things computed once and kept in the cache under a digest of what they were computed from."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from lemmata import cache
from lemmata.lean.embedded.unpack import write_failure

_KEPT_GENERATIONS = 2


def key_of(*parts: bytes | str) -> str:
    """A short digest of ``parts``; different lists of parts give different keys."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:24]


def artifact(parent: Path, kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder ``parent/kind-key``; when it is absent, ``build`` fills it.

    The caller holds the lock of ``parent``. Of older generations of the kind the newest is kept,
    for processes that still use it. Raises what ``build`` raises, and ``InstallError`` where it
    raised ``OSError``; nothing half-made remains.
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
