"""What the probe runs inside a sandbox: ``python -I -S _attempt.py NAME ARGUMENT``.

Tries one thing that a layer should forbid and prints ``through`` when it worked, else the error.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import sys

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def read_file(path: str) -> None:
    with open(path, "rb") as stream:  # noqa: PTH123
        stream.read(1)


def write_file(path: str) -> None:
    with open(path, "wb") as stream:  # noqa: PTH123
        stream.write(b"x")


def write_past_limit(size: str) -> None:
    with open("large", "wb") as stream:  # noqa: PTH123
        stream.write(bytes(int(size)))


def connect(port: str) -> None:
    socket.create_connection(("127.0.0.1", int(port)), timeout=2).close()


def signal_process(pid: str) -> None:
    # Inside a PID namespace the number may be this process's own, or init's.
    if int(pid) in (1, os.getpid()):
        raise ProcessLookupError
    os.kill(int(pid), signal.SIGTERM)


def find_shared_memory(key: str) -> None:
    _checked(_libc.shmget(ctypes.c_int(int(key)), ctypes.c_size_t(0), 0))


def become_root(_: str) -> None:
    os.setuid(0)


def change_root(path: str) -> None:
    os.chroot(path)


def gain_privileges(_: str) -> None:
    pr_get_no_new_privs = 39
    zero = ctypes.c_ulong(0)
    if _libc.prctl(pr_get_no_new_privs, zero, zero, zero, zero) == 1:
        raise PermissionError


def make_unix_socket(_: str) -> None:
    with contextlib.closing(socket.socket(socket.AF_UNIX)):
        pass


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]](sys.argv[2])
    except OSError as error:
        print(type(error).__name__)
    else:
        print("through")
