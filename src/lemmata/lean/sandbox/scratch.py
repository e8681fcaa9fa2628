"""Reading what an untrusted process left in its scratch folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from lemmata.errors import SandboxError


def open_in_scratch(scratch: Path, name: str) -> BinaryIO:
    """Open the regular file ``name`` directly inside ``scratch`` for reading.

    The process owns the folder, so ``name`` may be a symbolic link to one of the judge's files or
    a pipe that never answers: neither is followed or waited for. Raises ``SandboxError`` unless
    it is a regular file with one name.
    """
    if "/" in name or name in ("", ".", ".."):
        raise SandboxError(f"{name!r} is not the name of a file in the scratch folder")
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(scratch / name, flags)
    except OSError as error:
        raise SandboxError(f"{scratch / name} cannot be read: {error.strerror}") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(descriptor)
        raise SandboxError(f"{scratch / name} is not a regular file with one name; not read")
    return os.fdopen(descriptor, "rb")
