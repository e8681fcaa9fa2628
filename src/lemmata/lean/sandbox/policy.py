"""What a confined process may use, and what was really applied to it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from lemmata.lean.sandbox._helper import names
from lemmata.lean.sandbox._helper.names import LAYERS

__all__ = ["LAYERS", "LayerState", "LayerStatus", "Policy", "Requirement"]


class Requirement(enum.Enum):
    """What to do on a machine that cannot confine a process fully."""

    BEST_EFFORT = "best_effort"
    """Apply what there is and report the rest."""

    REQUIRED = "required"
    """Start nothing unless files, network, processes, privileges and resources are protected."""


@dataclass(frozen=True)
class Policy:
    """Limits of a confined process and the layers to confine it with.

    ``cpu_s`` is in seconds of processor time over the life of the process, ``file_size_bytes``
    the largest file it may write, ``processes`` its processes and threads together,
    ``stack_bytes`` the main thread's stack; ``None`` leaves the limit as it is. There is none on
    address space: WebAssembly reserves far more than it uses. Memory in use is the worker's
    business.
    """

    cpu_s: int | None = None
    file_size_bytes: int | None = 1 << 30
    open_files: int | None = 1024
    processes: int | None = 256
    stack_bytes: int | None = None
    core_bytes: int | None = 0
    requirement: Requirement = Requirement.BEST_EFFORT
    layers: tuple[str, ...] = LAYERS


class LayerState(enum.Enum):
    """How a layer came out."""

    APPLIED = "applied"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


_REMEDIES = {
    names.PID_NAMESPACE: "run as root or allow unprivileged user namespaces",
    names.NETWORK_NAMESPACE: "run as root or allow unprivileged user namespaces",
    names.IPC_NAMESPACE: "run as root or allow unprivileged user namespaces",
    names.MOUNT_NAMESPACE: (
        "run as root or allow unprivileged user namespaces, on Linux 5.12 or newer"
    ),
    names.RLIMITS: "raise the hard limits of the account (ulimit -H)",
    names.NO_NEW_PRIVS: "use Linux 3.5 or newer",
    names.UID: "run as root, with readable paths that every user can read",
    names.CAPABILITIES: "run as an ordinary user, or as root with CAP_SETPCAP",
    names.LANDLOCK_FS: "use Linux 5.13 or newer with Landlock enabled (lsm=landlock,...)",
    names.LANDLOCK_NET: "use Linux 6.7 or newer with Landlock enabled (lsm=landlock,...)",
    names.LANDLOCK_SCOPE: "use Linux 6.12 or newer with Landlock enabled (lsm=landlock,...)",
    names.SECCOMP: "use a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64",
}


@dataclass(frozen=True)
class LayerStatus:
    """One layer of the sandbox as it was applied to a process, or as a probe found it."""

    name: str
    state: LayerState
    detail: str

    @property
    def remedy(self) -> str:
        """What would make the layer available; empty when it is applied."""
        return "" if self.state is LayerState.APPLIED else _REMEDIES[self.name]


def remedy(layers: tuple[str, ...]) -> str:
    """What to do to get one of ``layers``, in words."""
    return "; or ".join(dict.fromkeys(_REMEDIES[layer] for layer in layers))
