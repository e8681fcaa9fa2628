# pathlib would take longer to import than all else the helper does.
# ruff: noqa: PTH123, PTH208
"""Starting one program, confined or not, and outliving it.

The helper stays as the program's supervisor: it ends the program and all its descendants when the
worker closes the lifeline, when its own parent dies, or when the program itself ends; then it ends
as the program did (same exit code or signal).

Processes: supervisor (outside) → program, or with a PID namespace supervisor → init → program,
where init applies the layers, reaps, and takes the namespace with it when it ends. Without one,
the supervisor is a subreaper, so that descendants stay its own however they detach.

A layer that fails ends the process it was being applied to; the supervisor starts another with
that layer left out. So nothing half confined ever runs the program.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from dataclasses import dataclass
from typing import Any, NoReturn

from . import confinement, linux, names
from .confinement import Situation, Spec
from .names import LayerError

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_USER_NAMESPACE = "user_namespace"


@dataclass
class Channel:
    """The descriptors shared with the worker; -1 for each that there is not."""

    report: int
    lifeline: int

    @classmethod
    def take(cls) -> Channel:
        """Read and remove the environment variable that names them."""
        text = os.environ.pop(names.CHANNEL_VARIABLE, "")
        try:
            report, lifeline = (int(part) for part in text.split(","))
        except ValueError:
            return cls(-1, -1)
        os.set_inheritable(report, False)
        os.set_inheritable(lifeline, False)
        return cls(report, lifeline)

    def send(self, message: dict[str, Any]) -> None:
        """Report one event; without a worker, tell a failure on standard error."""
        if self.report >= 0:
            os.write(self.report, json.dumps(message).encode() + b"\n")
        elif "error" in message:
            os.write(2, f"lemmata: {message['error']}\n".encode())

    def close_report(self) -> None:
        if self.report >= 0:
            os.close(self.report)
        self.report = -1

    def close_lifeline(self) -> None:
        if self.lifeline >= 0:
            os.close(self.lifeline)
        self.lifeline = -1


def main(arguments: list[str]) -> NoReturn:
    """``SPEC -- ARGV...``; does not return."""
    channel = Channel.take()
    separator = arguments.index("--")
    fields = json.loads(arguments[0])
    spec = Spec(
        cwd=fields["cwd"],
        readable=tuple(fields["readable"]),
        writable=tuple(fields["writable"]),
        layers=tuple(fields["layers"]),
        required=fields["requirement"] == "required",
        limits=dict(fields["limits"]),
    )
    command = arguments[separator + 1 :]
    # Python sets this one itself where no locale is given (PEP 538).
    os.environ.pop("LC_CTYPE", None)
    os.environ.update(fields["environment"])
    _close_all_but(channel)
    if linux.available():
        # Not SIGKILL: what is below has to be ended first.
        linux.die_with_parent(signal.SIGTERM)
        linux.prctl("PR_SET_CHILD_SUBREAPER", linux.PR_SET_CHILD_SUBREAPER, 1)
    _finish(Supervisor(spec, command, channel).run())


def _close_all_but(channel: Channel) -> None:
    keep = sorted(fd for fd in (channel.report, channel.lifeline) if fd >= 0)
    start = 3
    for descriptor in keep:
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 20))


def _finish(status: int) -> NoReturn:
    """End as the wait status ``status`` says the program did."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(1)
        os._exit(128 + number)
    os._exit(os.waitstatus_to_exitcode(status))


class Supervisor:
    """Runs one command under one spec; see the module's text."""

    def __init__(self, spec: Spec, command: list[str], channel: Channel) -> None:
        self._spec = spec
        self._command = command
        self._channel = channel
        self._skip: dict[str, LayerError] = {}
        self._privileged = False
        self._identity = (os.geteuid(), os.getegid())
        self._uid = _fresh_uid()
        if not linux.available():
            for layer in spec.layers:
                self._skip[layer] = LayerError(layer, "unavailable", "this needs 64-bit Linux")
        elif spec.layers:
            self._privileged = bool(linux.effective_capabilities() >> linux.CAP_SYS_ADMIN & 1)
        self._wake, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write)
        for number in (signal.SIGCHLD, *_ENDING_SIGNALS):
            signal.signal(number, lambda *_: None)

    def run(self) -> int:
        """Start, retrying without the layers that fail; returns the program's wait status."""
        while True:
            status_read, status_write = os.pipe()
            lifeline_read, lifeline_write = os.pipe()
            child, flags = self._fork()
            if child == 0:
                os.close(status_read)
                os.close(lifeline_write)
                _Inside(
                    spec=self._spec,
                    command=self._command,
                    channel=self._channel,
                    skip=self._skip,
                    identity=self._identity,
                    situation=Situation(
                        user_namespace=bool(flags & linux.CLONE_NEWUSER),
                        pid_namespace=bool(flags & linux.CLONE_NEWPID),
                        fresh_uid=self._uid,
                    ),
                    status=status_write,
                    lifeline=lifeline_read,
                ).run()
            os.close(status_write)
            os.close(lifeline_read)
            status, told = self._watch(child, status_read)
            os.close(lifeline_write)
            os.close(status_read)
            failed = next((message for message in told if "layer" in message), None)
            if failed is None:
                return next((m["status"] for m in told if "status" in m), status)
            self._leave_out(LayerError(**failed))

    def _fork(self) -> tuple[int, int]:
        """Fork into the namespaces that have to be entered at birth.

        Returns the process id (0 in the child) and the namespaces as ``CLONE_NEW*`` flags.
        """
        while True:
            flags = self._birth_flags()
            try:
                if not flags:
                    return os.fork(), 0
                return linux.fork_into(_flag_names(flags), flags), flags
            except OSError as error:
                layer = _USER_NAMESPACE if flags & linux.CLONE_NEWUSER else names.PID_NAMESPACE
                self._leave_out(names.refused(layer, error))

    def _birth_flags(self) -> int:
        wanted = [layer for layer in self._spec.layers if layer not in self._skip]
        flags = linux.CLONE_NEWPID if names.PID_NAMESPACE in wanted else 0
        if not self._privileged and any(layer in names.NAMESPACES for layer in wanted):
            flags |= linux.CLONE_NEWUSER
        return flags

    def _leave_out(self, error: LayerError) -> None:
        if error.layer != _USER_NAMESPACE:
            self._skip[error.layer] = error
            return
        detail = f"not root, and user namespaces are refused ({error.detail})"
        for layer in names.NAMESPACES:
            self._skip.setdefault(layer, LayerError(layer, error.state, detail))

    def _watch(self, child: int, status_read: int) -> tuple[int, list[dict[str, Any]]]:
        """Stay until the child and all its descendants have ended.

        Ends them when the lifeline closes or a signal asks for it. Returns the child's wait
        status (or that signal) and the messages it sent.
        """
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        poll.register(status_read, select.POLLIN)
        if self._channel.lifeline >= 0:
            poll.register(self._channel.lifeline, select.POLLIN)
        text = b""
        status = None
        while status is None:
            for descriptor, _ in poll.poll():
                if descriptor == status_read:
                    chunk = os.read(status_read, 65536)
                    text += chunk
                    if not chunk:
                        poll.unregister(status_read)
                    if b'"started"' in text:
                        # Held open here, a pipe would not look closed to the worker when the
                        # program ends.
                        self._channel.close_report()
                        _release_standard_streams()
                elif descriptor == self._wake:
                    received = os.read(self._wake, 512)
                    status = next((n for n in received if n != signal.SIGCHLD), None)
                else:
                    status = int(signal.SIGKILL)
            if status is None:
                status = _reap(child)
            if status is not None:
                _end_descendants(child)
        while chunk := os.read(status_read, 65536):
            text += chunk
        return status, [json.loads(line) for line in text.splitlines()]


@dataclass(frozen=True)
class _Inside:
    """The child's half: apply the layers, then become (or start) the program."""

    spec: Spec
    command: list[str]
    channel: Channel
    skip: dict[str, LayerError]
    identity: tuple[int, int]
    situation: Situation
    status: int
    lifeline: int

    def run(self) -> NoReturn:
        try:
            self._run()
        except LayerError as error:
            self._tell({"layer": error.layer, "state": error.state, "detail": error.detail})
        except BaseException as error:
            self.channel.send({"error": f"the helper broke: {type(error).__name__}: {error}"})
        os._exit(names.EXIT_SANDBOX)

    def _tell(self, message: dict[str, Any]) -> None:
        os.write(self.status, json.dumps(message).encode() + b"\n")

    def _run(self) -> None:
        signal.set_wakeup_fd(-1)
        # Its own session, so that the program cannot signal the supervisor as one of its group.
        os.setsid()
        self.channel.close_lifeline()
        if self.situation.user_namespace:
            _map_user(self.identity)
        applied: dict[str, str] = {}
        if linux.available():
            applied = confinement.apply(self.spec, self.situation, self.skip)
            self._hold_on_to_parent()
        self._require(tuple(applied))
        self._report(applied)
        self._tell({"started": True})
        if self.situation.pid_namespace:
            linux.prctl("PR_SET_DUMPABLE", linux.PR_SET_DUMPABLE, 0)
            self._be_init()
        self._execute()

    def _hold_on_to_parent(self) -> None:
        # After the change of user, which clears it; the pipe tells whether it came too late.
        linux.die_with_parent(signal.SIGKILL)
        poll = select.poll()
        poll.register(self.lifeline, 0)
        if poll.poll(0):
            os._exit(names.EXIT_SANDBOX)

    def _require(self, applied: tuple[str, ...]) -> None:
        if not self.spec.required:
            return
        for protection, layers in names.missing_protections(applied).items():
            reasons = [str(self.skip[layer]) for layer in layers if layer in self.skip]
            self.channel.send(
                {
                    "error": f"the sandbox is required, but {protection} cannot be protected "
                    f"here ({'; '.join(reasons) or 'the policy leaves it out'})",
                    "missing": list(layers),
                }
            )
            os._exit(names.EXIT_SANDBOX)

    def _report(self, applied: dict[str, str]) -> None:
        layers = []
        for layer in self.spec.layers:
            if layer in applied:
                layers.append([layer, "applied", applied[layer]])
            else:
                layers.append([layer, self.skip[layer].state, self.skip[layer].detail])
        self.channel.send({"layers": layers})

    def _be_init(self) -> None:
        """Fork; the child returns, the parent reaps until the child ends and ends with it."""
        program = os.fork()
        if program == 0:
            return
        self.channel.close_report()
        _release_standard_streams()
        while True:
            pid, status = os.wait()
            if pid == program:
                self._tell({"status": status})
                os._exit(0)

    def _execute(self) -> NoReturn:
        # Python ignores the last two, and an ignored signal stays ignored in the new program.
        for number in (*_ENDING_SIGNALS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.chdir(self.spec.cwd)
            os.execve(self.command[0], self.command, os.environ)
        except FileNotFoundError as error:
            code = names.EXIT_NOT_FOUND
            reason = f"{error.filename or self.command[0]} was not found"
        except OSError as error:
            code = names.EXIT_NOT_EXECUTABLE
            reason = f"{error.filename or self.command[0]}: {os.strerror(error.errno or 0)}"
        self.channel.send({"error": reason, "exec": code})
        os._exit(code)


def _flag_names(flags: int) -> str:
    known = {"CLONE_NEWUSER": linux.CLONE_NEWUSER, "CLONE_NEWPID": linux.CLONE_NEWPID}
    return "|".join(name for name, flag in known.items() if flags & flag)


def _map_user(identity: tuple[int, int]) -> None:
    """Keep one's own ids inside the user namespace, the only mapping anyone may make."""
    user, group = identity
    lines = {
        "setgroups": "deny",
        "uid_map": f"{user} {user} 1",
        "gid_map": f"{group} {group} 1",
    }
    for name, text in lines.items():
        path = f"/proc/self/{name}"
        try:
            with open(path, "w", encoding="ascii") as stream:
                stream.write(text)
        except OSError as error:
            error.filename = f"write {path}"
            raise names.refused(_USER_NAMESPACE, error) from error


def _fresh_uid() -> int:
    """A user id no one has: high in the range this user namespace maps, told apart by our pid."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as stream:
            extents = [tuple(map(int, line.split())) for line in stream]
    except OSError:
        return 0
    first, count = max(((first, count) for first, _, count in extents), key=lambda e: e[1])
    half = min(count, 1 << 31) // 2  # many programs hold ids in signed 32 bits
    room = min(half, 1 << 22)
    return int(first + half + os.getpid() % room) if room else 0


def _release_standard_streams() -> None:
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)


def _reap(child: int) -> int | None:
    """Reap whoever has ended, adopted orphans too; the child's wait status if it was one."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def _children() -> list[int]:
    """The direct children of this process, orphans it adopted included."""
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", encoding="ascii") as stream:
            return [int(pid) for pid in stream.read().split()]
    except OSError:
        return _children_by_search(own)


def _children_by_search(own: int) -> list[int]:
    found = []
    try:
        entries = os.listdir("/proc")
    except OSError:
        return []
    for entry in entries:
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as stream:
                    after_name = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(after_name[1]) == own:
                found.append(int(entry))
    return found


def _end_descendants(group: int) -> None:
    """Kill and reap everything below this process; ``group`` is the program's process group."""
    while True:
        targets = _children()
        for kill, target in ((os.killpg, group), *((os.kill, pid) for pid in targets)):
            try:
                kill(target, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)
