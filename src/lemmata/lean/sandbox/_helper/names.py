"""The layers of the sandbox, what they protect, and how an error of one is told."""

from __future__ import annotations

import errno
import os

# In the order in which they are applied.
PID_NAMESPACE = "pid_namespace"
NETWORK_NAMESPACE = "network_namespace"
IPC_NAMESPACE = "ipc_namespace"
MOUNT_NAMESPACE = "mount_namespace"
RLIMITS = "rlimits"
NO_NEW_PRIVS = "no_new_privs"
UID = "uid"
CAPABILITIES = "capabilities"
LANDLOCK_FS = "landlock_fs"
LANDLOCK_NET = "landlock_net"
LANDLOCK_SCOPE = "landlock_scope"
SECCOMP = "seccomp"

LAYERS: tuple[str, ...] = (
    PID_NAMESPACE,
    NETWORK_NAMESPACE,
    IPC_NAMESPACE,
    MOUNT_NAMESPACE,
    RLIMITS,
    NO_NEW_PRIVS,
    UID,
    CAPABILITIES,
    LANDLOCK_FS,
    LANDLOCK_NET,
    LANDLOCK_SCOPE,
    SECCOMP,
)

NAMESPACES = (PID_NAMESPACE, NETWORK_NAMESPACE, IPC_NAMESPACE, MOUNT_NAMESPACE)

# What "the sandbox is required" means: each protection by at least one of its layers.
PROTECTIONS: dict[str, tuple[str, ...]] = {
    "files": (MOUNT_NAMESPACE, LANDLOCK_FS),
    "network": (NETWORK_NAMESPACE, SECCOMP),
    "processes": (PID_NAMESPACE, LANDLOCK_SCOPE),
    "privileges": (NO_NEW_PRIVS,),
    "resources": (RLIMITS,),
}

# Exit codes of the helper itself, as far from Lean's as the shell's conventions allow.
EXIT_SANDBOX = 125
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127

# Two descriptors, "report,lifeline": set by the worker, removed before the program starts.
CHANNEL_VARIABLE = "LEMMATA_CHANNEL"

# A refusal by the machine, as against a layer that broke half-way.
_UNAVAILABLE = frozenset(
    {
        errno.EPERM,
        errno.EACCES,
        errno.ENOSYS,
        errno.EINVAL,
        errno.ENOSPC,  # max_user_namespaces reached
        errno.EUSERS,
        errno.EOPNOTSUPP,
        errno.ENOENT,
    }
)


class LayerError(Exception):
    """A layer could not be applied. ``state`` is ``unavailable`` or ``failed``."""

    def __init__(self, layer: str, state: str, detail: str) -> None:
        super().__init__(f"{layer}: {detail}")
        self.layer = layer
        self.state = state
        self.detail = detail


def refused(layer: str, error: OSError) -> LayerError:
    """The ``LayerError`` for a system call that failed while ``layer`` was being applied."""
    code = error.errno or 0
    state = "unavailable" if code in _UNAVAILABLE else "failed"
    what = error.filename or "the system call"
    return LayerError(layer, state, f"{what}: {os.strerror(code)}")


def missing_protections(applied: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The protections that no layer in ``applied`` gives, with the layers that would give them."""
    return {
        protection: layers
        for protection, layers in PROTECTIONS.items()
        if not any(layer in applied for layer in layers)
    }
