# pathlib would take longer to import than all else the helper does.
# ruff: noqa: PTH112, PTH116, PTH120, PTH208
"""Applying the layers to this process, in order."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import landlock, linux, mounts, names, seccomp
from .names import LayerError, refused

_HELPERS_OWN_PROCESSES = 1


@dataclass(frozen=True)
class Spec:
    """What the helper was asked to do; the first argument of its command line, as JSON."""

    cwd: str
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    layers: tuple[str, ...]
    required: bool
    limits: dict[str, int]


@dataclass(frozen=True)
class Situation:
    """How the process to be confined was started."""

    user_namespace: bool
    pid_namespace: bool
    fresh_uid: int  # one that no other process has


def apply(spec: Spec, situation: Situation, skip: dict[str, LayerError]) -> dict[str, str]:
    """Apply every layer of ``spec`` that is not in ``skip``; returns layer -> remark.

    Raises ``LayerError`` at the first one that fails. The process may then be half confined, so
    the caller must end it, and may try again in a fresh one with that layer skipped.
    """
    applied: dict[str, str] = {}

    def wanted(layer: str) -> bool:
        return layer in spec.layers and layer not in skip

    def attempt(layer: str, action: Callable[[], str | None]) -> None:
        if wanted(layer):
            try:
                applied[layer] = action() or ""
            except OSError as error:
                raise refused(layer, error) from error

    if situation.pid_namespace:
        applied[names.PID_NAMESPACE] = ""
    attempt(
        names.NETWORK_NAMESPACE,
        lambda: linux.unshare("CLONE_NEWNET", linux.CLONE_NEWNET),
    )
    attempt(
        names.IPC_NAMESPACE,
        lambda: linux.unshare("CLONE_NEWIPC|CLONE_NEWUTS", linux.CLONE_NEWIPC | linux.CLONE_NEWUTS),
    )
    attempt(names.MOUNT_NAMESPACE, lambda: _mount_namespace(spec, situation))
    attempt(names.RLIMITS, lambda: _rlimits(spec, situation, wanted(names.UID)))
    attempt(names.NO_NEW_PRIVS, _no_new_privs)
    # The bounding set needs a capability that the change of user takes away.
    attempt(names.CAPABILITIES, _bounding_set)
    if os.geteuid() == 0 and not situation.user_namespace and not wanted(names.UID):
        for path in spec.writable:
            _give(path, 0)
    attempt(names.UID, lambda: _uid(spec, situation))
    attempt(names.CAPABILITIES, linux.give_up_capabilities)
    _landlock(spec, wanted, applied)
    attempt(names.SECCOMP, _seccomp)
    return applied


def _mount_namespace(spec: Spec, situation: Situation) -> str:
    linux.unshare("CLONE_NEWNS", linux.CLONE_NEWNS)
    mounts.enter(spec.readable, spec.writable)
    remark = ""
    if situation.pid_namespace:
        try:
            mounts.mount_proc()
        except OSError:
            remark = "without /proc"
    mounts.seal()
    return remark


def _rlimits(spec: Spec, situation: Situation, own_uid: bool) -> str:
    remarks = []
    kinds = {
        "cpu_s": resource.RLIMIT_CPU,
        "file_size_bytes": resource.RLIMIT_FSIZE,
        "open_files": resource.RLIMIT_NOFILE,
        "processes": resource.RLIMIT_NPROC,
        "stack_bytes": resource.RLIMIT_STACK,
        "core_bytes": resource.RLIMIT_CORE,
    }
    for name, value in spec.limits.items():
        kind = kinds[name]
        if name == "processes":
            value += _HELPERS_OWN_PROCESSES
            if not (own_uid and os.geteuid() == 0) and not situation.user_namespace:
                # The limit counts everything that this user runs.
                value += _tasks_of_user(os.getuid())
        hard = resource.getrlimit(kind)[1]
        # A stack is no resource to guard: a program may raise its own within the hard limit.
        new_hard = hard if kind == resource.RLIMIT_STACK and _covers(hard, value) else value
        try:
            resource.setrlimit(kind, (value, new_hard))
        except (ValueError, OSError):
            resource.setrlimit(kind, (hard, hard))
            remarks.append(f"{name} held to {hard} by the hard limit")
    return "; ".join(remarks)


def _covers(hard: int, value: int) -> bool:
    return hard == resource.RLIM_INFINITY or hard >= value


def _tasks_of_user(uid: int) -> int:
    """How many tasks (threads) of ``uid`` exist now."""
    count = 0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if os.stat(f"/proc/{entry}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{entry}/task"))
            except OSError:
                continue
    return count


def _no_new_privs() -> None:
    linux.prctl("PR_SET_NO_NEW_PRIVS", linux.PR_SET_NO_NEW_PRIVS, 1)


def _bounding_set() -> None:
    # Without capabilities and with no_new_privs there is no way to gain one.
    if linux.effective_capabilities():
        linux.empty_bounding_set()


def _uid(spec: Spec, situation: Situation) -> str:
    if os.geteuid() != 0 or situation.user_namespace:
        raise LayerError(names.UID, "unavailable", "only root can change to another user")
    uid = situation.fresh_uid
    os.setgroups([])
    os.setegid(uid)
    os.seteuid(uid)
    try:
        for path in spec.readable:
            mode = os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK
            if not os.access(path, mode, effective_ids=True):
                raise LayerError(
                    names.UID, "unavailable", f"only root can read {path} (chmod -R o+rX would do)"
                )
        for path in spec.writable:
            if not os.access(os.path.dirname(path), os.X_OK, effective_ids=True):
                raise LayerError(
                    names.UID, "unavailable", f"only root can enter the folder that holds {path}"
                )
    finally:
        os.seteuid(0)
        os.setegid(0)
    for path in spec.writable:
        _give(path, uid)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    return f"uid {uid}"


def _give(top: str, uid: int) -> None:
    """Make ``uid`` the owner of ``top`` and all below it, following no symbolic link."""
    os.chown(top, uid, uid)
    if os.path.isdir(top):
        for _, folders, files, descriptor in os.fwalk(top):
            for name in (*folders, *files):
                os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)


def _landlock(
    spec: Spec,
    wanted: Callable[[str], bool],
    applied: dict[str, str],
) -> None:
    layers = [
        layer
        for layer in (names.LANDLOCK_FS, names.LANDLOCK_NET, names.LANDLOCK_SCOPE)
        if wanted(layer)
    ]
    if not layers:
        return
    try:
        version = landlock.abi()
    except OSError as error:
        raise refused(layers[0], error) from error
    handled = {
        names.LANDLOCK_FS: landlock.handled_files(version),
        names.LANDLOCK_NET: landlock.handled_network(version),
        names.LANDLOCK_SCOPE: landlock.handled_scopes(version),
    }
    for layer in layers:
        if not handled[layer]:
            raise LayerError(layer, "unavailable", f"this kernel's Landlock is ABI {version}")
    # The host's /proc would show other processes; the view's shows only those inside.
    proc = mounts.PROC if applied.get(names.MOUNT_NAMESPACE) == "" else mounts.PROC + "/self"
    try:
        landlock.restrict(
            _rules(spec, proc),
            files=handled[names.LANDLOCK_FS] if names.LANDLOCK_FS in layers else 0,
            network=handled[names.LANDLOCK_NET] if names.LANDLOCK_NET in layers else 0,
            scopes=handled[names.LANDLOCK_SCOPE] if names.LANDLOCK_SCOPE in layers else 0,
            version=version,
        )
    except OSError as error:
        raise refused(layers[0], error) from error
    applied.update(dict.fromkeys(layers, f"ABI {version}"))


def _rules(spec: Spec, proc: str) -> Iterator[tuple[str, int]]:
    for path in (*mounts.SYSTEM_READABLE, *spec.readable):
        yield path, landlock.READ
    for path in mounts.DEVICES:
        yield path, landlock.USE_DEVICE
    yield proc, landlock.READ
    for path in spec.writable:
        yield path, landlock.WRITE


def _seccomp() -> None:
    machine = linux.machine()
    if not seccomp.supported(machine):
        raise LayerError(names.SECCOMP, "unavailable", f"no filter is written for {machine}")
    seccomp.install(seccomp.program(machine))
