"""Landlock: a process gives up rights for good (Linux 5.13; landlock(7)).

All rights of the kernel's ABI are handled, so whatever no rule allows is denied.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from . import linux

_RULE_PATH_BENEATH = 1
_CREATE_RULESET_VERSION = 1

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_REMOVE_DIR = 1 << 4
_REMOVE_FILE = 1 << 5
_MAKE_DIR = 1 << 7
_MAKE_REG = 1 << 8
_MAKE_SYM = 1 << 12
_REFER = 1 << 13
_TRUNCATE = 1 << 14

READ = _EXECUTE | _READ_FILE | _READ_DIR
# Neither sockets, pipes and devices to be made, nor programs to be run from a writable place.
WRITE = (
    _READ_FILE
    | _READ_DIR
    | _WRITE_FILE
    | _REMOVE_DIR
    | _REMOVE_FILE
    | _MAKE_DIR
    | _MAKE_REG
    | _MAKE_SYM
    | _REFER
    | _TRUNCATE
)
USE_DEVICE = _READ_FILE | _WRITE_FILE

# Rights that make sense for a path that is not a folder; others are refused with EINVAL.
_FILE_RIGHTS = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE

_NET_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract UNIX sockets, signals


def abi() -> int:
    """The ABI version of this kernel's Landlock; raises ``OSError`` where there is none."""
    return linux.syscall(
        "landlock_create_ruleset", linux.SYS_LANDLOCK_CREATE_RULESET, None, 0,
        _CREATE_RULESET_VERSION,
    )  # fmt: skip


def _all_fs_rights(version: int) -> int:
    count = 13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16
    return (1 << count) - 1


def restrict(
    rules: Iterable[tuple[str, int]], *, files: int, network: int, scopes: int, version: int
) -> None:
    """Confine this process and its descendants.

    ``rules`` are ``(path, rights)``; paths that do not exist are left out, which denies them.
    ``files``, ``network`` and ``scopes`` are masks of what to handle, see ``handled``.
    """

    class PathBeneath(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))

    attributes = (ctypes.c_uint64 * 3)(files, network, scopes)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = linux.syscall(
        "landlock_create_ruleset",
        linux.SYS_LANDLOCK_CREATE_RULESET,
        ctypes.byref(attributes),
        size,
        0,
    )
    try:
        for path, rights in rules if files else ():
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                    rights &= _FILE_RIGHTS
                rule = PathBeneath(rights & files, descriptor)
                linux.syscall(
                    f"landlock_add_rule {path}",
                    linux.SYS_LANDLOCK_ADD_RULE,
                    ruleset,
                    _RULE_PATH_BENEATH,
                    ctypes.byref(rule),
                    0,
                )
            finally:
                os.close(descriptor)
        linux.syscall("landlock_restrict_self", linux.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def handled_files(version: int) -> int:
    """Every file system right this ABI knows."""
    return _all_fs_rights(version)


def handled_network(version: int) -> int:
    """TCP bind and connect, from ABI 4 on."""
    return _NET_TCP if version >= 4 else 0


def handled_scopes(version: int) -> int:
    """Abstract UNIX sockets and signals to processes outside, from ABI 6 on."""
    return _SCOPES if version >= 6 else 0
