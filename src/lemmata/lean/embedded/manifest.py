"""The manifest of an installed package: which files it has, and their sizes, times and hashes.

It is written last, so a folder without a readable manifest is not an installation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE_NAME = "manifest.json"
SCHEMA = "lemmata.toolchain/1"


@dataclass(frozen=True)
class FileRecord:
    """One file: size in bytes, modification time in nanoseconds, SHA-256 in hex."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What was installed; ``files`` maps relative POSIX paths to records.

    ``tree`` is ``tree_digest`` of the contents; ``created`` is UTC in ISO 8601.
    """

    package: str
    version: str
    integrity: str
    tree: str
    created: str
    files: Mapping[str, FileRecord]

    @property
    def size(self) -> int:
        """Sum of all file sizes in bytes."""
        return sum(record.size for record in self.files.values())

    def write(self, folder: Path) -> None:
        """Write the manifest into ``folder``.  Raises ``OSError``."""
        document = {
            "schema": SCHEMA,
            "package": self.package,
            "version": self.version,
            "integrity": self.integrity,
            "tree": self.tree,
            "created": self.created,
            "size": self.size,
            "files": {
                name: [record.size, record.mtime_ns, record.sha256]
                for name, record in sorted(self.files.items())
            },
        }
        path = folder / FILE_NAME
        path.write_text(json.dumps(document, indent=0), encoding="utf-8")
        path.chmod(0o644)


def tree_digest(contents: Mapping[str, str]) -> str:
    """SHA-256 (hex) over the sorted lines ``<sha256 of the file>  <relative path>``.

    ``contents`` maps paths to the SHA-256 of each file; times and modes do not enter.
    """
    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(f"{contents[name]}  {name}\n".encode())
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in hex.  Raises ``OSError``."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def record_of(path: Path) -> FileRecord:
    """The record of the file as it is now.  Raises ``OSError``."""
    status = path.stat()
    return FileRecord(status.st_size, status.st_mtime_ns, file_sha256(path))


def read(folder: Path) -> Manifest | None:
    """The manifest in ``folder``, or None when there is none that can be understood."""
    try:
        document: Any = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            return None
        return Manifest(
            package=str(document["package"]),
            version=str(document["version"]),
            integrity=str(document["integrity"]),
            tree=str(document["tree"]),
            created=str(document["created"]),
            files={
                str(name): FileRecord(int(size), int(mtime_ns), str(sha256))
                for name, (size, mtime_ns, sha256) in document["files"].items()
            },
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def changed_by_status(folder: Path, manifest: Manifest) -> str | None:
    """The first file whose size or time is not as recorded, or None; reads no contents."""
    for name, record in manifest.files.items():
        try:
            status = (folder / name).stat()
        except OSError:
            return name
        if status.st_size != record.size or status.st_mtime_ns != record.mtime_ns:
            return name
    return None


def changed_by_content(folder: Path, manifest: Manifest) -> str | None:
    """The first file whose content is not as recorded, or None; reads everything."""
    for name, record in manifest.files.items():
        try:
            if file_sha256(folder / name) != record.sha256:
                return name
        except OSError:
            return name
    return None
