"""How to start one process, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Launch:
    """One process to start, and all that it needs to see.

    ``argv[0]`` is a path or a name to be found on ``env["PATH"]``. ``env`` is the whole
    environment: nothing is inherited. ``cwd`` is the scratch folder, which the process may read
    and write. ``readable`` and ``writable`` are further files and folders (with everything below
    them) that it must be able to read, or to read and write; outside a sandbox they restrict
    nothing.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = field(default=())
