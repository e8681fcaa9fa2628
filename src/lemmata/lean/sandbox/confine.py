"""Wrapping a launch so that the helper starts it."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from lemmata.errors import SandboxError
from lemmata.lean.launch import Launch
from lemmata.lean.sandbox.policy import Policy

_HELPER = Path(__file__).with_name("_exec.py")


@dataclass(frozen=True)
class SupervisedLaunch(Launch):
    """A launch whose ``argv`` starts the helper, which starts the program and outlives it."""


def confine(launch: Launch, policy: Policy) -> Launch:
    """``launch`` under ``policy``: the same program in a sandbox.

    The program sees ``launch.readable``, the system's libraries and itself read-only,
    ``launch.cwd`` and ``launch.writable`` read-write, and no other file. Raises ``SandboxError``
    when one of these does not exist or ``launch`` is supervised already.
    """
    if isinstance(launch, SupervisedLaunch):
        raise SandboxError("this launch is supervised already; confine the one it was made from")
    limits = {
        "cpu_s": policy.cpu_s,
        "file_size_bytes": policy.file_size_bytes,
        "open_files": policy.open_files,
        "processes": policy.processes,
        "stack_bytes": policy.stack_bytes,
        "core_bytes": policy.core_bytes,
    }
    return _wrapped(
        launch,
        layers=list(policy.layers),
        requirement=policy.requirement.value,
        limits={name: value for name, value in limits.items() if value is not None},
    )


def supervise(launch: Launch) -> Launch:
    """``launch`` started by the helper without any confinement; a supervised one is returned."""
    if isinstance(launch, SupervisedLaunch):
        return launch
    return _wrapped(launch, layers=[], requirement="best_effort", limits={})


def _wrapped(
    launch: Launch, *, layers: list[str], requirement: str, limits: dict[str, int]
) -> SupervisedLaunch:
    program = shutil.which(launch.argv[0], path=launch.env.get("PATH", ""))
    if program is None:
        raise SandboxError(
            f"{launch.argv[0]} is not an executable file; give its path or set PATH in the launch"
        )
    program = str(Path(program).absolute())
    readable = {str(path.absolute()) for path in launch.readable} | {program}
    writable = {str(path.absolute()) for path in (launch.cwd, *launch.writable)}
    for path in sorted(readable | writable):
        if not Path(path).exists():
            raise SandboxError(f"{path} does not exist; create it before the process is started")
    spec = {
        "cwd": str(launch.cwd.absolute()),
        "readable": sorted(readable - writable),
        "writable": sorted(writable),
        "layers": layers,
        "requirement": requirement,
        "limits": limits,
        "environment": {key: launch.env[key] for key in ("LC_CTYPE",) if key in launch.env},
    }
    helper = (sys.executable, "-I", "-S", str(_HELPER), json.dumps(spec), "--")
    return SupervisedLaunch(
        argv=(*helper, program, *launch.argv[1:]),
        env=launch.env,
        cwd=launch.cwd,
        readable=launch.readable,
        writable=launch.writable,
    )
