"""The cache folder: where it is, publishing whole folders in it, and one installer at a time.

Everything Lemmata keeps between runs lies under one root: the environment variable
``LEMMATA_CACHE`` where it is set, else the user's cache folder as the platform defines it. A
folder appears under its final name only when it is complete (it is filled under another name
beside it and renamed), so a reader needs no lock.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs

from lemmata.errors import LemmataError

ENVIRONMENT_VARIABLE = "LEMMATA_CACHE"

STAGING = ".staging-"
_RETIRED = ".retired-"
_POLL_SECONDS = 0.2


class CacheError(LemmataError):
    """The cache folder cannot be created, written or locked."""


def cache_root() -> Path:
    """The cache folder as an absolute path; it need not exist.

    Raises ``CacheError`` when ``LEMMATA_CACHE`` is set to something relative, which would mean
    another folder in every working directory.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if not chosen:
        return platformdirs.user_cache_path("lemmata", appauthor=False)
    path = Path(chosen).expanduser()
    if not path.is_absolute():
        raise CacheError(
            f"{ENVIRONMENT_VARIABLE} is the relative path {chosen!r}; set it to an absolute folder."
        )
    return path


def make_folder(path: Path) -> Path:
    """Create ``path`` and its parents, readable by every user of the machine; return it.

    Sandboxed workers may run under another uid, so folders are 0755 whatever the umask is.
    Raises ``CacheError`` with the failing path when that is not possible.
    """
    missing = []
    try:
        probe = path
        while not probe.exists():
            missing.append(probe)
            probe = probe.parent
        path.mkdir(parents=True, exist_ok=True)
        for folder in missing:
            folder.chmod(0o755)
    except OSError as error:
        raise CacheError(_folder_problem(path, error)) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise CacheError(_folder_problem(path, PermissionError(errno.EACCES, "Permission denied")))
    return path


def _folder_problem(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    return (
        f"cannot write in the cache folder {path} ({reason}); give yourself access to it or set "
        f"{ENVIRONMENT_VARIABLE} to a folder you can write."
    )


@contextlib.contextmanager
def lock(
    path: Path,
    *,
    waiting: Callable[[], None] = lambda: None,
    timeout: float = 3600.0,
) -> Iterator[None]:
    """Hold the inter-process lock kept in the file ``path``.

    ``waiting`` is called once when another process holds it. The kernel drops the lock when its
    holder ends, however it ends, so a stale lock cannot exist. Raises ``CacheError`` after
    ``timeout`` seconds of waiting.
    """
    make_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise CacheError(_folder_problem(path.parent, error)) from error
    try:
        deadline = time.monotonic() + timeout
        announced = False
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not announced:
                    waiting()
                    announced = True
                if time.monotonic() >= deadline:
                    raise CacheError(
                        f"another process has held the lock {path} for {timeout:.0f} seconds; "
                        "let it finish or end it, then run the command again."
                    ) from None
                time.sleep(_POLL_SECONDS)
            except OSError as error:
                raise CacheError(
                    f"the file system of {path} cannot lock files ({error.strerror}); set "
                    f"{ENVIRONMENT_VARIABLE} to a folder on a local disk."
                ) from error
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def publish(target: Path) -> Iterator[Path]:
    """Yield an empty staging folder that becomes ``target`` when the block ends well.

    A former ``target`` is replaced. When the block raises, the staging folder is removed and
    ``target`` stays as it was. Writers of one target must hold a common ``lock``; readers none.
    """
    make_folder(target.parent)
    staging = target.parent / f"{STAGING}{target.name}-{uuid.uuid4().hex[:12]}"
    try:
        staging.mkdir()
        staging.chmod(0o755)
    except OSError as error:
        raise CacheError(_folder_problem(target.parent, error)) from error
    try:
        yield staging
        retired = target.parent / f"{_RETIRED}{target.name}-{uuid.uuid4().hex[:12]}"
        with contextlib.suppress(FileNotFoundError):
            target.rename(retired)
        staging.rename(target)
        shutil.rmtree(retired, ignore_errors=True)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def remove(target: Path) -> None:
    """Remove a published folder so that no reader sees half of it; absent is fine.

    Raises ``CacheError`` when the folder cannot be removed.
    """
    retired = target.parent / f"{_RETIRED}{target.name}-{uuid.uuid4().hex[:12]}"
    try:
        target.rename(retired)
        shutil.rmtree(retired)
    except FileNotFoundError:
        return
    except OSError as error:
        raise CacheError(f"cannot remove {target} ({error.strerror}).") from error


def sweep(folder: Path) -> None:
    """Remove what killed processes left unfinished in ``folder``; call it under the lock."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.name.startswith((STAGING, _RETIRED)):
            shutil.rmtree(entry, ignore_errors=True)


def free_bytes(path: Path) -> int:
    """Bytes an ordinary user may still write on the file system ``path`` is, or would be, on."""
    probe = path
    while not os.path.exists(probe):  # noqa: PTH110  (False where access is denied)
        probe = probe.parent
    return shutil.disk_usage(probe).free


def folder_bytes(path: Path) -> int:
    """Sum of the sizes of the regular files below ``path`` (0 when it does not exist)."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118
    return total
