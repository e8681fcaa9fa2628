"""One Lean process that answers requests, one line of JSON each.

WorkerError
├── WorkerTimeout    no reply within the wall limit
├── WorkerMemory     the process and its descendants used more than the memory limit
├── WorkerCrash      the process ended, or closed its output, before it answered
├── WorkerProtocol   it answered with something that is not a reply
└── WorkerRefused    it answered ``"ok": false``; it is still usable

After any but ``WorkerRefused`` the process is gone, with all its descendants, and the next request
starts another. The protocol is in ``docs/dev/architecture.md``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

import psutil

from lemmata.errors import WorkerError
from lemmata.lean.launch import Launch
from lemmata.lean.sandbox import LayerStatus, StartReport, supervise
from lemmata.lean.sandbox._helper.names import CHANNEL_VARIABLE

_POLL_S = 0.05
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_EXIT_GRACE_S = 2.0  # between a closed standard output and the exit that usually follows it
_KILL_GRACE_S = 5.0  # for the helper to end a process tree before it is ended itself


class _ProcessGone(WorkerError):
    """Base of the errors after which the process is gone.

    ``printed`` is what elaborated code printed during the request, ``stderr`` the last of what
    the process wrote on standard error, ``wall_s`` the time since the request was sent.
    """

    def __init__(self, message: str, printed: str, stderr: str, wall_s: float) -> None:
        super().__init__(message)
        self.printed = printed
        self.stderr = stderr
        self.wall_s = wall_s


class WorkerTimeout(_ProcessGone):
    """No reply within the wall limit."""


class WorkerMemory(_ProcessGone):
    """The process and its descendants used more memory than they may."""


class WorkerCrash(_ProcessGone):
    """The process ended before it answered.

    ``exit_code`` is the process's own, or minus the signal that ended it, or ``None`` when it
    closed its standard output and lived on.
    """

    def __init__(
        self, message: str, printed: str, stderr: str, wall_s: float, exit_code: int | None
    ) -> None:
        super().__init__(message, printed, stderr, wall_s)
        self.exit_code = exit_code


class WorkerProtocol(_ProcessGone):
    """The process answered with something that is not a reply."""


class WorkerRefused(WorkerError):
    """The process answered that it cannot serve this request; ``reply`` is that answer."""

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


@dataclass(frozen=True)
class Limits:
    """What one worker may use.

    ``start_s`` and ``wall_s`` are seconds for the greeting after a start and for one request.
    ``memory_bytes`` bounds the resident memory of the process and all its descendants together,
    sampled every 50 ms while it works. ``reply_bytes`` bounds one line of output, ``output_bytes``
    all output during one request; of printed text the first ``printed_bytes`` are kept, of standard
    error the last ``stderr_bytes``.
    """

    start_s: float = 120.0
    wall_s: float = 60.0
    memory_bytes: int = 4 << 30
    reply_bytes: int = 64 << 20
    output_bytes: int = 256 << 20
    printed_bytes: int = 64 << 10
    stderr_bytes: int = 16 << 10


@dataclass(frozen=True)
class Recycle:
    """When to replace a healthy process: checked before each request, ``None`` is never."""

    max_requests: int | None = None
    max_rss_bytes: int | None = None
    max_age_s: float | None = None


@dataclass(frozen=True)
class Call:
    """One request as data."""

    op: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """The answer to one request.

    ``fields`` is the reply's object without ``id`` and ``ok``; ``printed`` is the text that
    elaborated code printed meanwhile, cut after ``Limits.printed_bytes`` (then ``printed_cut``
    bytes more were dropped); ``wall_s`` the seconds from request to reply.
    """

    fields: dict[str, Any]
    printed: str
    printed_cut: int
    wall_s: float

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]


@dataclass
class _Exchange:
    """The request under way."""

    id: int
    mark: bytes
    limits: Limits
    sent_at: float
    reply: asyncio.Future[dict[str, Any]]
    printed: bytearray = field(default_factory=bytearray)
    cut: int = 0
    seen_bytes: int = 0

    def keep(self, text: bytes) -> None:
        room = max(self.limits.printed_bytes - len(self.printed), 0)
        self.printed += text[:room]
        self.cut += len(text) - len(text[:room])

    def printed_text(self) -> str:
        return self.printed.decode("utf-8", "replace")


class _Malformed(Exception):
    """A framed line that is not a reply; the text says why."""


class _Process(asyncio.SubprocessProtocol):
    """The pipes of one started process. Callbacks only: nothing here waits."""

    def __init__(self, limits: Limits) -> None:
        self.exchange: _Exchange | None = None
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.output_closed = asyncio.Event()
        self.stderr = bytearray()
        self._stderr_bytes = limits.stderr_bytes
        self._line = bytearray()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr += data
            del self.stderr[: -self._stderr_bytes]
            return
        exchange = self.exchange
        if exchange is None or exchange.reply.done():
            # Printed between requests: belongs to none of them. An unfinished line is dropped
            # too, so it cannot become the start of the next reply's line.
            self._line.clear()
            return
        exchange.seen_bytes += len(data)
        scanned = len(self._line)
        self._line += data
        while (end := self._line.find(b"\n", scanned)) >= 0:
            line = bytes(self._line[: end + 1])
            del self._line[: end + 1]
            scanned = 0
            if not line.startswith(exchange.mark):
                exchange.keep(line)
                continue
            self._answer(exchange, line)
            self._line.clear()
            return
        limits = exchange.limits
        if len(self._line) > limits.reply_bytes:
            self._fail(exchange, f"a line of output is longer than {limits.reply_bytes} bytes")
        elif exchange.seen_bytes > limits.output_bytes:
            self._fail(exchange, f"more than {limits.output_bytes} bytes were printed")

    def _answer(self, exchange: _Exchange, line: bytes) -> None:
        # The newline before the frame belongs to the protocol, unless it was cut off with the rest.
        if not exchange.cut and exchange.printed.endswith(b"\n"):
            del exchange.printed[-1:]
        try:
            exchange.reply.set_result(_parse(line[len(exchange.mark) :], exchange.id))
        except _Malformed as error:
            self._fail(exchange, str(error))

    def _fail(self, exchange: _Exchange, reason: str) -> None:
        exchange.keep(bytes(self._line))
        self._line.clear()
        exchange.reply.set_exception(_Malformed(reason))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            if self.exchange is not None and not self.exchange.reply.done():
                self.exchange.keep(bytes(self._line))
            self.output_closed.set()

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)


def _parse(text: bytes, request_id: int) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _Malformed(f"the reply is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise _Malformed("the reply is not a JSON object")
    if value.get("id") != request_id or isinstance(value.get("id"), bool):
        raise _Malformed(f"the reply has id {value.get('id')!r}, the request {request_id}")
    ok = value.get("ok")
    if not isinstance(ok, bool):
        raise _Malformed('the reply has no boolean "ok"')
    if not ok and not isinstance(value.get("error"), str):
        raise _Malformed('the reply is a failure without an "error"')
    return cast("dict[str, Any]", value)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class Worker:
    """A process started from ``launch`` when first needed, replaced when it has to be.

    ``greeting`` is sent after every start, before any other request; its replies are in
    ``greeted``. Requests are served one at a time, in the order of the calls. Use it as an
    asynchronous context manager, or call ``close``; a worker belongs to one event loop.
    """

    def __init__(
        self,
        launch: Launch,
        limits: Limits | None = None,
        *,
        recycle: Recycle | None = None,
        greeting: tuple[Call, ...] = (),
    ) -> None:
        self.limits = limits or Limits()
        self.layers: tuple[LayerStatus, ...] = ()
        self.greeted: tuple[Reply, ...] = ()
        self.starts = 0
        self._launch = supervise(launch)
        self._recycle = recycle or Recycle()
        self._greeting = greeting
        self._lock = asyncio.Lock()
        self._transport: asyncio.SubprocessTransport | None = None
        self._process: _Process | None = None
        self._lifeline: IO[bytes] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False
        self._next_id = 1
        self._served = 0
        self._started_at = 0.0
        self._seen: dict[int, psutil.Process] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def pid(self) -> int | None:
        """The process id of the supervising helper, ``None`` while nothing runs."""
        return self._transport.get_pid() if self._transport is not None else None

    @property
    def running(self) -> bool:
        """Whether a process is there to take a request without being started first."""
        return self._process is not None and not self._process.exited.done()

    def rss_bytes(self) -> int:
        """Resident memory of the program and its descendants now, in bytes; 0 without one."""
        return sum(_rss_bytes(pid) for pid in self._pids())

    async def request(self, op: str, /, **fields: Any) -> Reply:
        """Send one request under the worker's own wall limit and wait for its reply.

        Raises a ``WorkerError`` subclass, or ``SandboxError`` when the launch requires a sandbox
        that cannot be had.
        """
        return await self.call(Call(op, fields), wall_s=self.limits.wall_s)

    async def call(self, call: Call, *, wall_s: float) -> Reply:
        """As ``request``, with a wall limit in seconds for this call alone."""
        if not call.fields.keys().isdisjoint({"id", "op", "frame"}):
            raise ValueError("id, op and frame are not fields of a request")
        async with self._lock:
            if self._due_for_recycling():
                await self._end()
            if not self.running:
                await self._start()
            reply = await self._exchange(call, wall_s)
        if not reply.fields.pop("ok"):
            raise WorkerRefused(f"{call.op} was refused: {reply.fields['error']}", reply)
        return reply

    async def start(self) -> None:
        """Start the process now, and greet it, unless it runs already."""
        async with self._lock:
            if not self.running:
                await self._start()

    async def restart(self) -> None:
        """Replace the process, waiting for the request under way."""
        async with self._lock:
            await self._end()
            await self._start()

    async def close(self) -> None:
        """End the process and all its descendants, for good.

        A request under way fails as a crash; later ones raise ``WorkerError``.
        """
        self._closed = True
        await self._end()
        if self._ending:
            await asyncio.wait(self._ending)

    def _due_for_recycling(self) -> bool:
        if not self.running:
            return False
        policy = self._recycle
        return (
            (policy.max_requests is not None and self._served >= policy.max_requests)
            or (
                policy.max_age_s is not None
                and time.monotonic() - self._started_at >= policy.max_age_s
            )
            or (policy.max_rss_bytes is not None and self.rss_bytes() > policy.max_rss_bytes)
        )

    async def _start(self) -> None:
        await self._end()
        self._check_open()
        loop = asyncio.get_running_loop()
        report_read, report_write = os.pipe()
        lifeline_read, lifeline_write = os.pipe()
        self._lifeline = os.fdopen(lifeline_write, "wb", buffering=0)
        report = os.fdopen(report_read, "rb", buffering=0)
        try:
            transport, protocol = await loop.subprocess_exec(
                lambda: _Process(self.limits),
                *self._launch.argv,
                env={**self._launch.env, CHANNEL_VARIABLE: f"{report_write},{lifeline_read}"},
                cwd=self._launch.cwd,
                pass_fds=(report_write, lifeline_read),
                start_new_session=True,
            )
        except BaseException as error:
            report.close()
            self._lifeline.close()
            if isinstance(error, OSError):
                raise WorkerCrash(
                    f"{self._launch.argv[0]} cannot be started: {error.strerror}", "", "", 0.0, None
                ) from error
            raise
        finally:
            os.close(report_write)
            os.close(lifeline_read)
        self._transport = transport
        self._process = protocol
        self._started_at = time.monotonic()
        self._seen = {}
        self.starts += 1
        try:
            self._check_open()
            await self._read_report(report, protocol, transport)
            self.greeted = tuple([await self._greet(call) for call in self._greeting])
        except BaseException:
            self._drop()
            raise
        self._served = 0

    def _check_open(self) -> None:
        if self._closed:
            raise WorkerError("this worker is closed; make another from its launch")

    async def _greet(self, call: Call) -> Reply:
        reply = await self._exchange(call, self.limits.start_s)
        if not reply.fields.pop("ok"):
            raise WorkerRefused(f"{call.op} was refused: {reply.fields['error']}", reply)
        return reply

    async def _read_report(
        self, report: IO[bytes], process: _Process, transport: asyncio.SubprocessTransport
    ) -> None:
        """Wait until the program has been executed, and learn which layers it is under."""
        reader = asyncio.StreamReader()
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), report
        )
        try:
            async with asyncio.timeout(self.limits.start_s):
                text = await reader.read()
        except TimeoutError:
            raise WorkerTimeout(
                f"the process did not start within {self.limits.start_s} s",
                "",
                "",
                self.limits.start_s,
            ) from None
        finally:
            pipe.close()
        started = StartReport.parse(text)
        self.layers = started.layers
        if started.error:
            await self._wait_for_exit(process)
            stderr = process.stderr.decode("utf-8", "replace")
            code = transport.get_returncode() if started.exit_code is None else started.exit_code
            raise WorkerCrash(started.error, "", stderr, 0.0, code)

    async def _exchange(self, call: Call, wall_s: float) -> Reply:
        process, transport = self._process, self._transport
        assert process is not None and transport is not None
        now = time.monotonic()
        frame = secrets.token_hex(16)
        exchange = _Exchange(
            id=self._next_id,
            mark=frame.encode() + b" ",
            limits=self.limits,
            sent_at=now,
            reply=asyncio.get_running_loop().create_future(),
        )
        self._next_id += 1
        self._served += 1
        request = {"id": exchange.id, "frame": frame, "op": call.op, **call.fields}
        line = json.dumps(request).encode() + b"\n"
        process.exchange = exchange
        try:
            pipe = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
            pipe.write(line)
            value = await self._await_reply(exchange, process, transport, wall_s)
        except BaseException:
            self._drop()
            raise
        finally:
            process.exchange = None
            exchange.reply.cancel()
        del value["id"]
        return Reply(
            fields=value,
            printed=exchange.printed_text(),
            printed_cut=exchange.cut,
            wall_s=time.monotonic() - now,
        )

    async def _await_reply(
        self,
        exchange: _Exchange,
        process: _Process,
        transport: asyncio.SubprocessTransport,
        wall_s: float,
    ) -> dict[str, Any]:
        deadline = exchange.sent_at + wall_s
        closed = asyncio.ensure_future(process.output_closed.wait())
        try:
            while True:
                pause = min(_POLL_S, max(deadline - time.monotonic(), 0))
                await asyncio.wait(
                    (exchange.reply, closed), timeout=pause, return_when=asyncio.FIRST_COMPLETED
                )
                if exchange.reply.done():
                    try:
                        return exchange.reply.result()
                    except _Malformed as error:
                        raise WorkerProtocol(str(error), *_evidence(exchange, process)) from None
                if closed.done():
                    await self._wait_for_exit(process)
                    raise self._crash(exchange, process, transport)
                if time.monotonic() >= deadline:
                    raise WorkerTimeout(
                        f"no reply within {wall_s:g} s", *_evidence(exchange, process)
                    )
                used = self._memory_bytes()
                if used > self.limits.memory_bytes:
                    raise WorkerMemory(
                        f"the process uses {used >> 20} MiB of memory, "
                        f"more than the limit of {self.limits.memory_bytes >> 20} MiB",
                        *_evidence(exchange, process),
                    )
        finally:
            closed.cancel()

    async def _wait_for_exit(self, process: _Process) -> None:
        await asyncio.wait((process.exited,), timeout=_EXIT_GRACE_S)

    def _crash(
        self, exchange: _Exchange, process: _Process, transport: asyncio.SubprocessTransport
    ) -> WorkerCrash:
        code = transport.get_returncode()
        if self._closed:
            how = "the worker was closed"
        elif code is None:
            how = "the process closed its standard output without answering"
        elif code < 0:
            how = f"the process was ended by {_signal_name(-code)} before it answered"
        else:
            how = f"the process ended with exit code {code} before it answered"
        return WorkerCrash(how, *_evidence(exchange, process), code)

    def _pids(self) -> list[int]:
        """The processes below the helper; also notes them for ``_finish_off``."""
        if self._transport is None:
            return []
        found = _descendants(self._transport.get_pid())
        for pid in found:
            if pid not in self._seen:
                with contextlib.suppress(psutil.Error):
                    self._seen[pid] = psutil.Process(pid)
        return found

    def _memory_bytes(self) -> int:
        pids = self._pids()
        used = sum(_rss_bytes(pid) for pid in pids)
        if used <= self.limits.memory_bytes:
            return used
        # Forked processes share pages, which resident sizes count once for each of them.
        return sum(_proportional_bytes(pid) for pid in pids)

    def _drop(self) -> None:
        """Begin to end the process at once; ``_ending`` holds the rest of the work."""
        transport, process, lifeline = self._transport, self._process, self._lifeline
        self._transport = self._process = self._lifeline = None
        seen, self._seen = self._seen, {}
        if lifeline is not None:
            lifeline.close()
        if transport is None or process is None:
            return
        task = asyncio.ensure_future(_finish_off(transport, process, seen))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self) -> None:
        self._drop()
        if self._ending:
            await asyncio.wait(self._ending)


def _evidence(exchange: _Exchange, process: _Process) -> tuple[str, str, float]:
    stderr = process.stderr.decode("utf-8", "replace")
    return exchange.printed_text(), stderr, time.monotonic() - exchange.sent_at


async def _finish_off(
    transport: asyncio.SubprocessTransport, process: _Process, seen: dict[int, psutil.Process]
) -> None:
    """See to it that the helper and all that it started are gone, and reaped."""
    try:
        await asyncio.wait((process.exited,), timeout=_KILL_GRACE_S)
        if not process.exited.done():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
            await process.exited
        # Only a helper that was itself ended leaves any of these; psutil knows a reused id.
        for child in seen.values():
            with contextlib.suppress(psutil.Error):
                child.kill()
    finally:
        transport.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _descendants(pid: int) -> list[int]:
    """All processes below ``pid``."""
    found: list[int] = []
    queue = [pid]
    while queue:
        children = _children(queue.pop())
        if children is None:
            with contextlib.suppress(psutil.Error):
                return [child.pid for child in psutil.Process(pid).children(recursive=True)]
            return []
        found += children
        queue += children
    return found


def _children(pid: int) -> list[int] | None:
    """The children of ``pid``, or ``None`` where the kernel does not list them."""
    found: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except FileNotFoundError:
        return [] if Path("/proc/self/task").exists() else None
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as stream:  # noqa: PTH123
                found += [int(child) for child in stream.read().split()]
        except ProcessLookupError:
            continue
        except FileNotFoundError:
            if not _LISTS_CHILDREN:
                return None
    return found


_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _rss_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as stream:  # noqa: PTH123
            return int(stream.read().split()[1]) * _PAGE_BYTES
    except OSError:
        pass
    if Path("/proc/self/statm").exists():
        return 0
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _proportional_bytes(pid: int) -> int:
    """Memory of ``pid`` with each shared page divided among those that share it (PSS)."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as stream:  # noqa: PTH123
            for line in stream:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _rss_bytes(pid)
