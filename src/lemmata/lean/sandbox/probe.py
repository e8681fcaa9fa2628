"""Trying each layer for real: apply it alone, then try what it should forbid."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lemmata.lean.launch import Launch
from lemmata.lean.sandbox._helper import names
from lemmata.lean.sandbox._helper.names import CHANNEL_VARIABLE
from lemmata.lean.sandbox.confine import confine
from lemmata.lean.sandbox.policy import LAYERS, LayerState, LayerStatus, Policy
from lemmata.lean.sandbox.report import StartReport

_ATTEMPT = Path(__file__).with_name("_attempt.py")
_FILE_LIMIT = 1 << 16
_TIMEOUT_S = 30.0

# Layers that another one stands on: without a view of its own, a program that only root can
# reach cannot be run by another user.
_STANDS_ON = {names.UID: (names.MOUNT_NAMESPACE,)}


def probe() -> tuple[LayerStatus, ...]:
    """Every layer as it works on this machine, for this user; about a second.

    A layer that claims to be applied and lets the forbidden thing through is ``failed``.
    """
    if sys.platform != "linux":
        detail = "this needs 64-bit Linux"
        return tuple(LayerStatus(name, LayerState.UNAVAILABLE, detail) for name in LAYERS)
    with tempfile.TemporaryDirectory(prefix="lemmata-probe-") as folder, _targets() as targets:
        outside = Path(folder)
        scratch = outside / "scratch"
        scratch.mkdir()
        (outside / "secret").write_text("secret")
        targets["read_file"] = str(outside / "secret")
        targets["write_file"] = str(outside / "written")
        return tuple(_try(layer, scratch, targets) for layer in LAYERS)


_FORBIDS: dict[str, tuple[str, ...]] = {
    names.PID_NAMESPACE: ("signal_process",),
    names.NETWORK_NAMESPACE: ("connect",),
    names.IPC_NAMESPACE: ("find_shared_memory",),
    names.MOUNT_NAMESPACE: ("read_file", "write_file"),
    names.RLIMITS: ("write_past_limit",),
    names.NO_NEW_PRIVS: ("gain_privileges",),
    names.UID: ("become_root",),
    names.CAPABILITIES: ("change_root",),
    names.LANDLOCK_FS: ("read_file", "write_file"),
    names.LANDLOCK_NET: ("connect",),
    names.LANDLOCK_SCOPE: ("signal_process",),
    names.SECCOMP: ("make_unix_socket",),
}


@contextmanager
def _targets() -> Iterator[dict[str, str]]:
    """Things outside for the attempts to reach for: attempt -> its argument."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = os.getpid() | 0x4C45_0000
    create, remove = 0o1000 | 0o666, 0
    shared = libc.shmget(ctypes.c_int(key), ctypes.c_size_t(4096), create)
    victim = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    try:
        with victim, socket.create_server(("127.0.0.1", 0)) as server:
            yield {
                "signal_process": str(victim.pid),
                "connect": str(server.getsockname()[1]),
                "find_shared_memory": str(key),
                "write_past_limit": str(2 * _FILE_LIMIT),
                "gain_privileges": "",
                "become_root": "",
                "change_root": "/",
                "make_unix_socket": "",
            }
    finally:
        libc.shmctl(ctypes.c_int(shared), ctypes.c_int(remove), None)


def _try(layer: str, scratch: Path, targets: dict[str, str]) -> LayerStatus:
    layers = {names.NO_NEW_PRIVS, layer, *_STANDS_ON.get(layer, ())}
    policy = Policy(
        file_size_bytes=_FILE_LIMIT, layers=tuple(name for name in LAYERS if name in layers)
    )
    detail = ""
    for attempt in _FORBIDS[layer]:
        python = os.path.realpath(sys.executable)
        launch = Launch(
            argv=(python, "-I", "-S", str(_ATTEMPT), attempt, targets[attempt]),
            env={},
            cwd=scratch,
            readable=(Path(sys.base_prefix), _ATTEMPT),
        )
        report, output = _run(confine(launch, policy))
        for status in report.layers:
            if status.name == layer and status.state is not LayerState.APPLIED:
                return status
            if status.name == layer:
                detail = status.detail
        if output == "through":
            return LayerStatus(layer, LayerState.FAILED, f"applied, yet {attempt} went through")
        if not output:
            why = report.error or "the attempt did not answer"
            return LayerStatus(layer, LayerState.FAILED, f"{attempt} could not be tried: {why}")
    return LayerStatus(layer, LayerState.APPLIED, detail)


def _run(launch: Launch) -> tuple[StartReport, str]:
    report_read, report_write = os.pipe()
    lifeline_read, lifeline_write = os.pipe()
    with open(report_read, "rb") as report, open(lifeline_write, "wb"):  # noqa: PTH123
        try:
            process = subprocess.Popen(
                launch.argv,
                env={**launch.env, CHANNEL_VARIABLE: f"{report_write},{lifeline_read}"},
                cwd=launch.cwd,
                pass_fds=(report_write, lifeline_read),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        finally:
            os.close(report_write)
            os.close(lifeline_read)
        with process:
            try:
                output, _ = process.communicate(timeout=_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
        return StartReport.parse(report.read()), output.decode("utf-8", "replace").strip()
