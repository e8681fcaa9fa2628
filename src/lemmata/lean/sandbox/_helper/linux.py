"""The system calls the sandbox needs and Python does not wrap.

Each raises ``OSError`` with the call's name as its ``filename``. Numbers and constants are from
the Linux UAPI headers and the man pages of section 2.
"""

from __future__ import annotations

import ctypes
import os
import sys

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4
MOUNT_ATTR_NOEXEC = 8
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000

CAP_SYS_ADMIN = 21

# Calls with one number on every architecture (all newer than 2019), then those without.
SYS_MOUNT_SETATTR = 442
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_ADD_RULE = 445
SYS_LANDLOCK_RESTRICT_SELF = 446
_NUMBERS = {
    "x86_64": {"clone": 56, "pivot_root": 155},
    "aarch64": {"clone": 220, "pivot_root": 41},
}


def machine() -> str:
    """The architecture this process runs as, in the kernel's spelling."""
    name = os.uname().machine
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(name, name)


def available() -> bool:
    """Whether any of this can work here: Linux, and a 64-bit process."""
    return sys.platform == "linux" and sys.maxsize > 2**32


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
    return result


def syscall(what: str, number: int, *arguments: object) -> int:
    """The raw system call ``number``; integers are passed as C longs."""
    passed = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *passed), what)


def prctl(what: str, option: int, *arguments: object) -> int:
    passed = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    passed += [ctypes.c_ulong(0)] * (4 - len(passed))
    return _checked(_libc.prctl(ctypes.c_int(option), *passed), f"prctl({what})")


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send ``signal_number`` to this process when its parent ends."""
    prctl("PR_SET_PDEATHSIG", PR_SET_PDEATHSIG, signal_number)


def unshare(what: str, flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare({what})")


def fork_into(what: str, flags: int) -> int:
    """``fork`` whose child starts in the new namespaces ``flags``; 0 in the child.

    A raw clone, because unshare would move the calling process (for a user namespace) or could
    not be tried twice (for a PID namespace). Safe here as this process has one thread; the
    interpreter lock is kept (``PyDLL``) so the child owns it.
    """
    number = _NUMBERS.get(machine(), {}).get("clone")
    if number is None:
        raise OSError(38, "no system call number known", f"clone on {machine()}")
    sigchld = 17
    call = ctypes.PyDLL(None, use_errno=True).syscall
    zero = ctypes.c_long(0)
    arguments = (ctypes.c_long(number), ctypes.c_long(flags | sigchld), zero, zero, zero, zero)
    return _checked(int(call(*arguments)), f"clone({what})")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    _checked(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            kind.encode(),
            ctypes.c_ulong(flags),
            data.encode(),
        ),
        f"mount {kind or source} at {target}",
    )


def unmount(target: str) -> None:
    _checked(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def restrict_mount(target: str, attributes: int) -> None:
    """Set ``MOUNT_ATTR_*`` on ``target`` and every mount below it (Linux 5.12)."""
    attr = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    syscall(
        f"mount_setattr {target}",
        SYS_MOUNT_SETATTR,
        _AT_FDCWD,
        ctypes.c_char_p(os.fsencode(target)),
        _AT_RECURSIVE,
        ctypes.byref(attr),
        ctypes.sizeof(attr),
    )


def pivot_root(new_root: str, put_old: str) -> None:
    number = _NUMBERS.get(machine(), {}).get("pivot_root")
    if number is None:
        raise OSError(38, "no system call number known", f"pivot_root on {machine()}")
    syscall(
        "pivot_root",
        number,
        ctypes.c_char_p(os.fsencode(new_root)),
        ctypes.c_char_p(os.fsencode(put_old)),
    )


def effective_capabilities() -> int:
    """The effective capabilities of this process as a bit mask."""
    data = (ctypes.c_uint32 * 6)()
    _checked(_libc.capget(ctypes.byref(_capability_header()), ctypes.byref(data)), "capget")
    return int(data[0]) | int(data[3]) << 32


def empty_bounding_set() -> None:
    """Take every capability out of the bounding set; raises at the first refusal."""
    for capability in range(64):
        try:
            prctl("PR_CAPBSET_DROP", PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == 22:  # past the last capability this kernel knows
                return
            raise


def give_up_capabilities() -> None:
    """Empty the effective, permitted, inheritable and ambient sets."""
    data = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(ctypes.byref(_capability_header()), ctypes.byref(data)), "capset")
    prctl("PR_CAP_AMBIENT", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)


def _capability_header() -> ctypes.Array[ctypes.c_uint32]:
    version_3 = 0x2008_0522
    return (ctypes.c_uint32 * 2)(version_3, 0)
