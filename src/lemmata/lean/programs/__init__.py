"""The Lean side of a worker, as the text of one program for ``lean --run``.

The program is the concatenation of a version layer (``compat_*.lean``), which alone calls what
differs between Lean versions, and the numbered parts in order.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from lemmata.errors import ToolchainError

_FOLDER = Path(__file__).parent
_LAYER = re.compile(r"compat_(\d+)_(\d+)\.lean")


@cache
def worker_source(lean_version: str) -> str:
    """The program for a Lean version such as ``4.28.0-pre``.

    The newest version layer that is not newer than that Lean is used. Raises ``ToolchainError`` for
    a version older than every layer, or one that is not a version.
    """
    match = re.match(r"(\d+)\.(\d+)", lean_version)
    if match is None:
        raise ToolchainError(f"{lean_version!r} is not a Lean version")
    wanted = (int(match[1]), int(match[2]))
    layers = {
        (int(found[1]), int(found[2])): path
        for path in _FOLDER.iterdir()
        if (found := _LAYER.fullmatch(path.name))
    }
    usable = [version for version in layers if version <= wanted]
    if not usable:
        oldest = ".".join(map(str, min(layers)))
        raise ToolchainError(f"Lean {lean_version} is too old; {oldest} or newer is needed")
    parts = [layers[max(usable)], *sorted(_FOLDER.glob("[0-9]*.lean"))]
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)
