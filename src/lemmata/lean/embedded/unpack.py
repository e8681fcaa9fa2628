"""Take files out of a tar archive without believing what it says about where they go.

Only regular files and folders are accepted, only below the target, each name once. Links,
devices, absolute names and ``..`` make the whole archive unacceptable: the pinned package has
none. Owners, modes and times in the archive are not used.
"""

from __future__ import annotations

import errno
import gzip
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from lemmata.errors import InstallError

_CHUNK = 1 << 20


class DiskFull(InstallError):
    """No space is left for what is being unpacked."""


def members(archive: tarfile.TarFile, label: str) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """The regular files of ``archive`` in order: a safe relative name and an open stream.

    Folders and macOS resource forks (``._*``) are passed over. Raises ``InstallError`` naming
    the member when one is unsafe, doubled or of a kind that does not belong in a package, and
    when the archive itself is broken.
    """
    seen: set[PurePosixPath] = set()
    try:
        for member in archive:
            name = _safe_name(member.name, label)
            if member.isdir() or any(part.startswith("._") for part in name.parts):
                continue
            if not member.isreg():
                raise InstallError(
                    f"{label} holds {member.name!r}, which is neither a file nor a folder; "
                    "the archive was not unpacked."
                )
            if name in seen or not name.parts:
                raise InstallError(
                    f"{label} holds {member.name!r} twice or without a name; "
                    "the archive was not unpacked."
                )
            seen.add(name)
            stream = archive.extractfile(member)
            if stream is not None:
                yield name, stream
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise InstallError(f"{label} is not a complete tar.gz archive ({error}).") from error


def _safe_name(text: str, label: str) -> PurePosixPath:
    name = PurePosixPath(text)
    bad = name.is_absolute() or ".." in name.parts or "\\" in text or "\0" in text
    if bad or any(":" in part for part in name.parts[:1]):
        raise InstallError(
            f"{label} holds the member {text!r}, which would lie outside its folder; "
            "the archive was not unpacked."
        )
    return name


def open_archive(path: Path) -> tarfile.TarFile:
    """Open a ``.tar.gz`` for reading.  Raises ``InstallError`` when it is not one."""
    try:
        return tarfile.open(path, mode="r:gz")
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise InstallError(f"{path} is not a readable tar.gz archive ({error}).") from error


def open_nested(stream: IO[bytes], label: str) -> tarfile.TarFile:
    """Open a ``.tar.gz`` that is itself a member of another archive, for one pass.

    Raises ``InstallError`` when it is not one.
    """
    try:
        return tarfile.open(fileobj=stream, mode="r|gz")
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise InstallError(f"{label} is not a readable tar.gz archive ({error}).") from error


def write_file(stream: IO[bytes], target: Path, account: Callable[[int], None]) -> None:
    """Copy ``stream`` into the new file ``target`` (mode 0644), creating its folders (0755).

    ``account`` is called with the size of each piece before it is written and may raise. Raises
    ``DiskFull`` when the disk is full, ``InstallError`` for other failures to write.
    """
    try:
        _make_parents(target.parent)
        with target.open("xb") as out:
            while chunk := _read(stream, target):
                account(len(chunk))
                out.write(chunk)
        target.chmod(0o644)
    except OSError as error:
        raise write_failure(error, target) from error


def _read(stream: IO[bytes], target: Path) -> bytes:
    try:
        return stream.read(_CHUNK)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InstallError(
            f"the archive breaks off inside {target.name} ({error}); nothing was installed."
        ) from error


def write_failure(error: OSError, target: Path) -> InstallError:
    """The error to raise when writing ``target`` failed with ``error``."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DiskFull(
            f"the disk of {target.parent} became full while unpacking; nothing was installed, "
            "free some space or set LEMMATA_CACHE to a folder on another disk."
        )
    return InstallError(f"cannot write {target} ({error.strerror or error}).")


def _make_parents(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_parents(folder.parent)
    folder.mkdir(exist_ok=True)
    os.chmod(folder, 0o755)  # noqa: PTH101
