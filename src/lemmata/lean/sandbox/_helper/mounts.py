# pathlib would take longer to import than all else the helper does.
# ruff: noqa: PTH102, PTH103, PTH114, PTH115, PTH120, PTH211
"""A file tree of its own: nothing but what was asked for, read-only but for the scratch folder.

Works in a fresh mount namespace, as root or inside a user namespace. Symbolic links on the way to
a path are made again, so that every name a program was given still leads where it led.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from . import linux

# What a dynamically linked program needs; those that a system lacks are left out.
SYSTEM_READABLE = (
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/local/lib",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    # A program with OpenSSL in it, Node for one, does without these but not with being refused.
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/openssl.cnf",
    "/etc/crypto-policies",
    "/nix/store",
    "/gnu/store",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

PROC = "/proc"
_STAGE, _NEW, _OLD = "/tmp", "/new", "/old"
_SYMLINKS_FOLLOWED = 40


class View:
    """The new tree while it is built: mounts under ``/new``, the host under ``/old``."""

    def __init__(self) -> None:
        self._hops = 0

    def expose(self, path: str, attributes: int) -> None:
        """Show the host's ``path`` under the same name, with ``MOUNT_ATTR_*`` on all of it."""
        self._hops = 0
        real = self._walk(path)
        source = _OLD + real
        target = _NEW + real
        if not os.path.lexists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if stat.S_ISDIR(os.lstat(source).st_mode):
                os.mkdir(target)
            else:
                os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444))
        linux.mount(source, target, "", linux.MS_BIND | linux.MS_REC)
        linux.restrict_mount(target, attributes)

    def _walk(self, path: str) -> str:
        """The host's real path for ``path``; makes the symbolic links met on the way."""
        done = ""
        parts = [part for part in path.split("/") if part and part != "."]
        while parts:
            part = parts.pop(0)
            if part == "..":
                done = os.path.dirname(done) if done.count("/") > 1 else ""
                continue
            here = f"{done}/{part}"
            if not os.path.islink(_OLD + here):
                os.lstat(_OLD + here)
                done = here
                continue
            self._hops += 1
            if self._hops > _SYMLINKS_FOLLOWED:
                raise OSError(40, "too many symbolic links", path)
            to = os.readlink(_OLD + here)
            if not os.path.lexists(_NEW + here):
                os.makedirs(os.path.dirname(_NEW + here), exist_ok=True)
                os.symlink(to, _NEW + here)
            parts = [p for p in to.split("/") if p and p != "."] + parts
            if to.startswith("/"):
                done = ""
        return done or "/"


def enter(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Make the view and move into it.

    Raises ``OSError``; the process is then of no more use and must end.
    """
    no_privileges = linux.MOUNT_ATTR_NOSUID | linux.MOUNT_ATTR_NODEV
    read_only = no_privileges | linux.MOUNT_ATTR_RDONLY
    wanted = {path: read_only for path in SYSTEM_READABLE if os.path.lexists(path)}
    wanted |= dict.fromkeys(readable, read_only)
    wanted |= dict.fromkeys(writable, no_privileges)
    wanted |= dict.fromkeys(
        (path for path in DEVICES if os.path.lexists(path)),
        linux.MOUNT_ATTR_NOSUID | linux.MOUNT_ATTR_NOEXEC,
    )
    # A folder before what lies in it, so that an inner mount is not covered by the outer one.
    order = sorted(wanted, key=lambda path: os.path.realpath(path).count("/"))

    tmpfs = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    linux.mount("", "/", "", linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", _STAGE, "tmpfs", tmpfs, "size=4m,mode=0755")
    os.mkdir(_STAGE + _NEW)
    os.mkdir(_STAGE + _OLD)
    linux.pivot_root(_STAGE, _STAGE + _OLD)
    os.chdir("/")
    linux.mount("tmpfs", _NEW, "tmpfs", tmpfs, "size=4m,mode=0755")
    view = View()
    for path in order:
        view.expose(path, wanted[path])
    os.makedirs(_NEW + PROC, exist_ok=True)
    linux.unmount(_OLD)
    # The staging tmpfs is still the root: swap the view in and drop it (pivot_root(2), NOTES).
    os.chdir(_NEW)
    linux.pivot_root(".", ".")
    linux.unmount(".")
    os.chdir("/")


def seal() -> None:
    """Make the root of the view read-only (the mounts on it keep their own attributes)."""
    flags = linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY
    linux.mount("", "/", "", flags | linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)


def mount_proc() -> None:
    """Show the processes of this PID namespace, and nothing else of the kernel, in ``/proc``."""
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    linux.mount("proc", PROC, "proc", flags, "subset=pid")
