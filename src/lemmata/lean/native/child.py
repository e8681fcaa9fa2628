"""One request in a process of its own: the child reads the export and replays it, the parent
watches.

The child writes one JSON object per line into a pipe: first what the file declares, then before
and after each declaration a line, so that when the child dies the parent knows at which one. Only
after the last verdict does the child ask Lean for readable messages, because the pretty printer
may crash or run for ever on hostile terms, and then costs nothing but the messages.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from lemmata.errors import LemmataError
from lemmata.export import kind_word, read_export
from lemmata.lean.native.base import Base
from lemmata.lean.native.kernel import KernelEnvironment, Refusal
from lemmata.lean.native.replay import KERNEL_LIMIT, Outcome, Replay

EXIT_DONE = 73
"""Exit code of a child that did all it should; Lean's own exits on internal errors use 1."""

MESSAGE_SECONDS = 2.0
"""Time the child may spend on readable messages after its verdicts."""

_EXIT_FAILED = 74
_PR_SET_PDEATHSIG = 1
_GUESSED_VIRTUAL_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """``max_heartbeats`` and ``max_rec_depth`` as Lean's kernel counts them; 0 means no limit."""

    file: Path
    max_heartbeats: int
    max_rec_depth: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Per request: seconds of wall clock, and bytes of memory above the base."""

    wall_seconds: float
    memory_bytes: int


class RequestFailed(LemmataError):
    """The request could not be carried out; this says nothing about any declaration."""


@dataclass(slots=True)
class _Progress:
    """What the child has said so far."""

    declared: list[dict[str, Any]] | None = None
    results: list[dict[str, Any]] = field(default_factory=list)
    ended: bool = False
    failure: str = ""

    def take(self, line: dict[str, Any]) -> None:
        if "declares" in line:
            self.declared = line["declares"]
        elif "result" in line:
            self.results.append(line["result"])
        elif "message" in line:
            self.results[line["of"]]["message"] = line["message"]
        elif "failure" in line:
            self.failure = line["failure"]
        elif "end" in line:
            # The verdicts are complete; nothing after this line can change one.
            self.ended = True


def replay_in_child(base: Base, request: ReplayRequest, limits: Limits) -> list[dict[str, Any]]:
    """The results of the protocol's ``replay``, one per declaration of the file.

    A child that ends early in any way leaves the declaration it was at, and all after it,
    undecided. Raises `RequestFailed` when the file cannot be read.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(base, request, limits, writer)
    os.close(writer)
    progress = _Progress()
    in_time = True
    try:
        in_time = _follow(reader, progress, limits.wall_seconds)
    finally:
        os.close(reader)
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    if progress.failure:
        raise RequestFailed(progress.failure)
    ending = _describe(status) if in_time else f"it ran longer than {limits.wall_seconds:g} s"
    if progress.declared is None:
        raise RequestFailed(f"the kernel did not finish reading {request.file}: {ending}")
    if progress.ended:
        return progress.results
    return progress.results + [
        {
            **declared,
            "outcome": Outcome.UNDECIDED.value,
            "reason": KERNEL_LIMIT,
            "message": f"the kernel process stopped at this declaration: {ending}"
            if position == 0
            else "not reached: the kernel process stopped at an earlier declaration",
            "ms": 0.0,
        }
        for position, declared in enumerate(progress.declared[len(progress.results) :])
    ]


def _describe(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"it exited with code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"


def _follow(reader: int, progress: _Progress, wall_seconds: float) -> bool:
    """Read the child's lines until it closes the pipe; False when its time is over first."""
    deadline = time.monotonic() + wall_seconds
    pending = b""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return False
        data = os.read(reader, 1 << 16)
        if not data:
            return True
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            progress.take(json.loads(line))
        if progress.ended:
            deadline = min(deadline, time.monotonic() + MESSAGE_SECONDS)


# In the child.


def _child(base: Base, request: ReplayRequest, limits: Limits, writer: int) -> NoReturn:
    code = _EXIT_FAILED
    try:
        # The child must not outlive a parent that is killed.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _limit_memory(base, limits.memory_bytes)
        # Left open: when the parent sees the end of the pipe, the exit code is settled.
        _replay(base, request, os.fdopen(writer, "wb", buffering=0))
        code = EXIT_DONE
    finally:
        os._exit(code)


def _limit_memory(base: Base, memory_bytes: int) -> None:
    """Limits for this process: Lean's own, which it checks as it works, then the system's."""
    virtual, resident = _size()
    base.library.lean_internal_set_max_memory(resident + memory_bytes)
    # Room above Lean's limit, so that it is Lean that stops, with an exception.
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    room = 2 * memory_bytes + (0 if stack == resource.RLIM_INFINITY else stack)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    ceiling = virtual + room
    if hard != resource.RLIM_INFINITY:
        ceiling = min(ceiling, hard)
    resource.setrlimit(resource.RLIMIT_AS, (ceiling, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _size() -> tuple[int, int]:
    """Virtual and resident bytes of this process; generous guesses where /proc is hidden."""
    try:
        pages = Path("/proc/self/statm").read_text().split()
    except OSError:
        return _GUESSED_VIRTUAL_BYTES, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    virtual, resident = (int(number) * resource.getpagesize() for number in pages[:2])
    return virtual, resident


def _send(out: BinaryIO, line: dict[str, Any]) -> None:
    data = memoryview(json.dumps(line).encode() + b"\n")
    while data:
        data = data[out.write(data) :]


def _replay(base: Base, request: ReplayRequest, out: BinaryIO) -> None:
    try:
        export = read_export(request.file)
    except LemmataError as error:
        _send(out, {"failure": str(error)})
        return
    _send(
        out,
        {
            "declares": [
                {"names": declaration.names(), "kind": kind_word(declaration)}
                for declaration in export.declarations
            ]
        },
    )
    environment = base.environment()
    replay = Replay(
        base.library,
        environment,
        export,
        missing=base.missing,
        max_heartbeats=request.max_heartbeats,
        max_rec_depth=request.max_rec_depth,
    )
    refusals: list[tuple[int, Refusal]] = []
    for position, result in enumerate(replay):
        line: dict[str, Any] = {
            "names": result.names,
            "kind": result.kind,
            "outcome": result.outcome.value,
            "reason": result.reason,
            "message": result.message,
            "ms": result.ms,
        }
        if result.by:
            line["by"] = result.by
        if result.refusal is not None:
            refusals.append((position, result.refusal))
        _send(out, {"result": line})
    _send(out, {"end": True})
    _send_messages(environment, refusals, out)


def _send_messages(
    environment: KernelEnvironment, refusals: list[tuple[int, Refusal]], out: BinaryIO
) -> None:
    for position, refusal in refusals:
        _send(out, {"of": position, "message": environment.message(refusal)})
