"""The sandbox: what is reported applied holds, and what is missing is reported.

Which layers there are depends on the machine and the user, so the tests ask the report and then
try to break what it claims. Poorer machines are made by taking things away with a system call
filter, or by giving up root inside a sandbox.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lemmata
from lemmata.errors import SandboxError
from lemmata.lean.launch import Launch
from lemmata.lean.sandbox import (
    LAYERS,
    LayerState,
    LayerStatus,
    Policy,
    Requirement,
    confine,
    open_in_scratch,
    probe,
    supervise,
)
from lemmata.lean.sandbox._helper import names, seccomp
from lemmata.lean.toolchain import EmbeddedToolchain
from lemmata.lean.worker import (
    Call,
    Limits,
    Worker,
    WorkerCrash,
    WorkerMemory,
    WorkerTimeout,
)

PEER = Path(__file__).with_name("peer.py")
PYTHON = os.path.realpath(sys.executable)
SOURCE = Path(lemmata.__file__).parent.parent
SITE = Path(psutil.__file__).parent.parent
PROBED = {status.name: status for status in probe()}
LIMITS = Limits(start_s=20, wall_s=20)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def python(code: str, scratch: Path, *readable: Path) -> Launch:
    """A launch of this Python on ``code``."""
    return Launch(
        argv=(PYTHON, "-I", "-S", "-c", textwrap.dedent(code)),
        env={},
        cwd=scratch,
        readable=(Path(sys.base_prefix), *readable),
    )


def run(launch: Launch, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run without a worker, as a script would."""
    return subprocess.run(
        launch.argv, env=launch.env, cwd=launch.cwd, capture_output=True, text=True, timeout=timeout
    )


def tried(code: str, scratch: Path, *readable: Path, policy: Policy | None = None) -> str:
    """What ``code`` prints under ``policy`` (by default, everything there is)."""
    result = run(confine(python(code, scratch, *readable), policy or Policy()))
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def state(statuses: tuple[LayerStatus, ...], name: str) -> LayerState:
    return next(status.state for status in statuses if status.name == name)


def applied(*layers: str) -> bool:
    return any(PROBED[layer].state is LayerState.APPLIED for layer in layers)


def confined_peer(scratch: Path, policy: Policy | None = None) -> Launch:
    launch = Launch((PYTHON, "-I", "-S", str(PEER)), {}, scratch, (Path(sys.base_prefix), PEER))
    return confine(launch, policy or Policy())


class TestProbe:
    def test_it_names_every_layer_once_and_in_order(self) -> None:
        assert tuple(PROBED) == LAYERS

    def test_every_layer_that_the_kernel_has_is_applied(self) -> None:
        """Asked in other ways than the sandbox does, so that a broken layer is not "missing"."""
        libc = ctypes.CDLL(None, use_errno=True)
        landlock = libc.syscall(444, None, ctypes.c_size_t(0), 1)
        expected = {names.NO_NEW_PRIVS, names.RLIMITS, names.CAPABILITIES}
        expected |= {names.LANDLOCK_FS} if landlock >= 1 else set()
        expected |= {names.LANDLOCK_NET} if landlock >= 4 else set()
        expected |= {names.LANDLOCK_SCOPE} if landlock >= 6 else set()
        if "Seccomp:" in Path("/proc/self/status").read_text():
            expected.add(names.SECCOMP)
        user = [] if os.geteuid() == 0 else ["--user"]
        command = ["unshare", *user, "--mount", "--net", "--pid", "--ipc", "--fork", "true"]
        if subprocess.run(command, capture_output=True).returncode == 0:
            expected |= set(names.NAMESPACES)
            expected |= {names.UID} if os.geteuid() == 0 else set()
        there = {name for name, status in PROBED.items() if status.state is LayerState.APPLIED}
        assert there == expected

    def test_no_layer_lets_the_forbidden_through(self) -> None:
        assert [s for s in PROBED.values() if s.state is LayerState.FAILED] == []

    def test_remedies_are_told_where_something_is_missing(self) -> None:
        for status in PROBED.values():
            assert bool(status.remedy) == (status.state is not LayerState.APPLIED)
        for layer in LAYERS:
            assert LayerStatus(layer, LayerState.UNAVAILABLE, "").remedy

    def test_on_other_systems_everything_is_unavailable(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        assert {status.state for status in probe()} == {LayerState.UNAVAILABLE}


class TestFiles:
    def test_only_what_was_asked_for_can_be_read(self, scratch: Path, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("secret")
        shown = tmp_path / "shown"
        shown.mkdir()
        (shown / "file").write_text("shown")
        code = f"""
        def read(path):
            try:
                return open(path).read()
            except OSError as error:
                return type(error).__name__
        print([read({str(shown / "file")!r}), read({str(secret)!r}), read("/etc/passwd")])
        """
        seen = eval(tried(code, scratch, shown))
        assert seen[0] == "shown"
        if applied(names.MOUNT_NAMESPACE, names.LANDLOCK_FS):
            assert set(seen[1:]) <= {"FileNotFoundError", "PermissionError"}

    def test_only_scratch_can_be_written(self, scratch: Path, tmp_path: Path) -> None:
        shown = tmp_path / "shown"
        shown.mkdir()
        (shown / "file").write_text("before")
        code = f"""
        import os
        open("made", "w").write("x"); os.mkdir("d"); os.rename("made", "d/moved")
        for path in ({str(shown / "file")!r}, {str(shown / "new")!r}, "/new", "/usr/lib/new"):
            try:
                open(path, "w").write("after")
            except OSError:
                continue
            print(path)
        """
        through = tried(code, scratch, shown)
        assert (scratch / "d" / "moved").read_text() == "x"
        if applied(names.MOUNT_NAMESPACE, names.LANDLOCK_FS):
            assert through == ""
            assert (shown / "file").read_text() == "before"

    def test_layers_of_files_hold_alone(self, scratch: Path, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("secret")
        shown = tmp_path / "shown"
        shown.mkdir()
        code = f"""
        for path, mode in (({str(tmp_path / "secret")!r}, "r"), ({str(shown / "new")!r}, "w"),
                           ("/new", "w"), ("/usr/lib/new", "w")):
            try:
                open(path, mode)
            except OSError as error:
                continue
            print(path)
        """
        for layer in (names.MOUNT_NAMESPACE, names.LANDLOCK_FS):
            if applied(layer):
                policy = Policy(layers=(names.NO_NEW_PRIVS, layer))
                assert tried(code, scratch, shown, policy=policy) == ""

    def test_names_through_symbolic_links_lead_where_they_led(
        self, scratch: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "real" / "deep").mkdir(parents=True)
        (tmp_path / "real" / "deep" / "file").write_text("found")
        (tmp_path / "relative").symlink_to("real/../real")
        (tmp_path / "absolute").symlink_to(tmp_path / "relative")
        link = tmp_path / "absolute" / "deep"
        assert tried(f"print(open({str(link / 'file')!r}).read())", scratch, link) == "found"

    def test_writable_inside_readable(self, tmp_path: Path) -> None:
        inner = tmp_path / "readable" / "inner"
        inner.mkdir(parents=True)
        outer = inner.parent
        code = f"""
        open("in", "w").write("x")
        try:
            open({str(outer / "out")!r}, "w")
        except OSError:
            print("denied")
        """
        if applied(names.MOUNT_NAMESPACE, names.LANDLOCK_FS):
            assert tried(code, inner, outer) == "denied"
        assert tried("print(open('in').read())", inner, outer) == "x"

    def test_programs_in_scratch_cannot_be_run(self, scratch: Path) -> None:
        code = """
        import os, shutil, subprocess
        shutil.copy("/proc/self/exe", "program") if os.path.exists("/proc/self/exe") else None
        open("script", "w").write("#!/bin/sh\\necho ran")
        os.chmod("script", 0o755)
        try:
            subprocess.run(["./script"])
        except OSError:
            print("denied")
        """
        if applied(names.LANDLOCK_FS):
            assert tried(code, scratch) == "denied"

    def test_files_of_an_earlier_process_stay_usable(self, scratch: Path) -> None:
        tried("import os; os.mkdir('d', 0o700); open('d/f', 'w').write('1')", scratch)
        code = "open('d/f', 'a').write('2'); print(open('d/f').read())"
        assert tried(code, scratch) == "12"
        assert tried(code, scratch, policy=Policy(layers=())) == "122"
        without_user = Policy(layers=tuple(x for x in LAYERS if x != names.UID))
        assert tried(code, scratch, policy=without_user) == "1222"

    def test_paths_that_do_not_exist_are_named(self, scratch: Path, tmp_path: Path) -> None:
        with pytest.raises(SandboxError, match="missing does not exist"):
            confine(python("", scratch, tmp_path / "missing"), Policy())
        with pytest.raises(SandboxError, match="not an executable"):
            confine(Launch(("no-such-program",), {}, scratch), Policy())

    def test_a_launch_is_confined_once(self, scratch: Path) -> None:
        with pytest.raises(SandboxError, match="supervised already"):
            confine(supervise(python("", scratch)), Policy())


class TestScratchFiles:
    def test_regular_files_are_read(self, scratch: Path) -> None:
        (scratch / "f").write_bytes(b"data")
        with open_in_scratch(scratch, "f") as stream:
            assert stream.read() == b"data"

    def test_traps_are_not(self, scratch: Path, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("secret")
        (scratch / "link").symlink_to(tmp_path / "secret")
        (scratch / "hard").hardlink_to(tmp_path / "secret")
        (scratch / "folder").mkdir()
        os.mkfifo(scratch / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(scratch / "socket"))
            for name in ("link", "hard", "folder", "pipe", "socket", "none", "../secret", "..", ""):
                with pytest.raises(SandboxError):
                    open_in_scratch(scratch, name)


class TestProcessesAndNetwork:
    def test_no_network(self, scratch: Path) -> None:
        code = """
        import socket
        def attempt(action):
            try:
                action()
            except OSError:
                return
            print(action)
        with_port = {port}
        attempt(lambda: socket.create_connection(("127.0.0.1", with_port), timeout=2))
        attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
            b"x", ("127.0.0.1", with_port)))
        attempt(lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + {name!r}))
        """
        name = f"lemmata-test-{os.getpid()}"
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.socket(socket.AF_UNIX) as unix,
        ):
            unix.bind("\0" + name)
            unix.listen()
            port = server.getsockname()[1]
            if applied(names.NETWORK_NAMESPACE, names.SECCOMP):
                assert tried(code.format(port=port, name=name), scratch) == ""

    @pytest.mark.parametrize(
        ("layer", "kind"),
        [
            (names.NETWORK_NAMESPACE, "abstract"),
            (names.SECCOMP, "abstract"),
            (names.LANDLOCK_SCOPE, "abstract"),
            (names.NETWORK_NAMESPACE, "tcp"),
            (names.SECCOMP, "tcp"),
            (names.LANDLOCK_NET, "tcp"),
        ],
    )
    def test_each_layer_of_the_network_alone(self, scratch: Path, layer: str, kind: str) -> None:
        name = f"lemmata-test-{os.getpid()}"
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.socket(socket.AF_UNIX) as unix,
        ):
            unix.bind("\0" + name)
            unix.listen()
            port = server.getsockname()[1]
            code = f"""
            import socket
            try:
                if {kind!r} == "tcp":
                    socket.create_connection(("127.0.0.1", {port}), timeout=2)
                else:
                    socket.socket(socket.AF_UNIX).connect(chr(0) + {name!r})
            except OSError:
                print("denied")
            else:
                print("through")
            """
            bare = Policy(layers=(names.NO_NEW_PRIVS,))
            assert tried(code, scratch, policy=bare) == "through"
            if applied(layer):
                policy = Policy(layers=(names.NO_NEW_PRIVS, layer))
                assert tried(code, scratch, policy=policy) == "denied"

    async def test_attacks_on_the_helper_end_only_the_attacker(self, scratch: Path) -> None:
        bystander = subprocess.Popen(["sleep", "60"])
        code = """
        import os, signal, time
        if os.fork():
            time.sleep(30)
        for target in (1, os.getppid(), -1, 0):
            for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
                try:
                    os.kill(target, number)
                except OSError:
                    pass
        time.sleep(30)
        """
        if applied(names.PID_NAMESPACE, names.LANDLOCK_SCOPE):
            async with Worker(confine(python(code, scratch), Policy()), LIMITS) as worker:
                with pytest.raises((WorkerCrash, WorkerTimeout)):
                    await worker.call(Call("echo"), wall_s=2)
            assert bystander.poll() is None
        bystander.kill()
        bystander.wait()

    def test_a_program_that_kills_its_group_does_not_reach_the_helper(self, scratch: Path) -> None:
        code = """
        import os, time
        if os.fork() == 0:
            os.setsid()
            open("detached", "w").write(str(os.getpid()))
            os.rename("detached", "pid")
            time.sleep(60)
        while not os.path.exists("pid"):
            time.sleep(0.01)
        os.kill(0, 9)
        """
        launch = supervise(python(code, scratch))
        with subprocess.Popen(launch.argv, env={}, cwd=scratch, start_new_session=True) as process:
            assert process.wait(timeout=20) == -signal.SIGKILL
        assert not psutil.pid_exists(int((scratch / "pid").read_text()))

    def test_no_signal_is_left_ignored(self, scratch: Path) -> None:
        launch = Launch(("/bin/cat", "/proc/self/status"), {}, scratch)
        result = run(supervise(launch))
        ignored = next(x for x in result.stdout.splitlines() if x.startswith("SigIgn:"))
        # 32 and 33 belong to the C library, which lets nobody set them.
        assert int(ignored.split()[1], 16) & ~(0b11 << 31) == 0

    def test_the_helper_cannot_be_traced_or_read(self, scratch: Path) -> None:
        code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        attach = 16
        if os.getppid() and libc.ptrace(attach, os.getppid(), 0, 0) == 0:
            print("traced")
        for name in ("environ", "mem", "fd", "cwd"):
            try:
                os.listdir(f"/proc/{os.getppid()}/fd") if name == "fd" else open(
                    f"/proc/{os.getppid()}/{name}").read(1)
            except OSError:
                continue
            print(name)
        """
        if applied(names.PID_NAMESPACE):
            assert tried(code, scratch) == ""


class TestLimits:
    def test_file_size(self, scratch: Path) -> None:
        code = """
        try:
            open("large", "wb").write(bytes(2 << 20))
        except OSError as error:
            print(error.strerror)
        """
        assert tried(code, scratch, policy=Policy(file_size_bytes=1 << 20)) == "File too large"

    def test_processes(self, scratch: Path) -> None:
        code = """
        import os, time
        count = 0
        try:
            while count < 200:
                if os.fork() == 0:
                    time.sleep(30)
                    os._exit(0)
                count += 1
        except OSError:
            pass
        print(count)
        """
        count = int(tried(code, scratch, policy=Policy(processes=20)))
        root_without_user = os.geteuid() == 0 and not applied(names.UID)
        assert root_without_user or count <= 20
        assert count >= 10

    def test_open_files_core_and_stack(self, scratch: Path) -> None:
        code = """
        import resource as r
        print([r.getrlimit(k)[0] for k in (r.RLIMIT_NOFILE, r.RLIMIT_CORE, r.RLIMIT_STACK)])
        """
        policy = Policy(open_files=64, stack_bytes=4 << 20)
        assert json.loads(tried(code, scratch, policy=policy)) == [64, 0, 4 << 20]

    async def test_processor_time(self, scratch: Path) -> None:
        launch = confine(python("while True: pass", scratch), Policy(cpu_s=1))
        async with Worker(launch, LIMITS) as worker:
            with pytest.raises(WorkerCrash, match=r"SIGXCPU|SIGKILL"):
                await worker.request("echo")


class TestWorker:
    async def test_layers_are_reported(self, scratch: Path) -> None:
        async with Worker(confined_peer(scratch), LIMITS) as worker:
            assert worker.layers == ()
            await worker.request("echo")
            assert tuple(status.name for status in worker.layers) == LAYERS
            for status in worker.layers:
                assert status.state is PROBED[status.name].state, status

    async def test_unconfined_reports_none(self, scratch: Path) -> None:
        launch = Launch((PYTHON, "-I", str(PEER)), {}, scratch)
        async with Worker(launch, LIMITS) as worker:
            await worker.request("echo")
            assert worker.layers == ()

    async def test_descriptors_and_environment_are_clean(self, scratch: Path) -> None:
        if not applied(names.PID_NAMESPACE) or not applied(names.MOUNT_NAMESPACE):
            return
        async with Worker(confined_peer(scratch), LIMITS) as worker:
            assert (await worker.request("descriptors"))["descriptors"] == [0, 1, 2, 3]
            environment = (await worker.request("environment"))["environment"]
            assert set(environment) <= {"LC_CTYPE"}

    @pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
    async def test_the_signal_that_ended_it_is_told(self, scratch: Path, number: int) -> None:
        async with Worker(confined_peer(scratch), LIMITS) as worker:
            with pytest.raises(WorkerCrash) as caught:
                await worker.request("signal", number=int(number))
            assert caught.value.exit_code == -number

    async def test_exit_code_timeout_memory(self, scratch: Path) -> None:
        limits = Limits(start_s=20, wall_s=20, memory_bytes=200 << 20)
        async with Worker(confined_peer(scratch), limits) as worker:
            with pytest.raises(WorkerCrash, match="exit code 7"):
                await worker.request("exit", code=7)
            with pytest.raises(WorkerCrash, match="closed its standard output"):
                await worker.request("close_output")
            with pytest.raises(WorkerTimeout):
                await worker.call(Call("ignore_signals"), wall_s=0.3)
            with pytest.raises(WorkerMemory):
                await worker.request("allocate_forever")
            with pytest.raises(WorkerMemory):
                await worker.request("child_allocates")
            assert (await worker.request("echo", value=1))["value"] == 1

    @pytest.mark.parametrize("layers", [LAYERS, tuple(x for x in LAYERS if "pid" not in x)])
    async def test_detached_descendants_end(self, scratch: Path, layers: tuple[str, ...]) -> None:
        async with Worker(confined_peer(scratch, Policy(layers=layers)), LIMITS) as worker:
            await worker.request("spawn", detached=True)
            assert worker.pid is not None
            tree = psutil.Process(worker.pid).children(recursive=True)
            assert len(tree) >= 2
            with pytest.raises(WorkerCrash):
                await worker.request("exit", code=1)
            await asyncio.sleep(0.2)
            assert [process for process in tree if process.is_running()] == []

    async def test_required_starts_only_where_all_is_protected(self, scratch: Path) -> None:
        launch = confined_peer(scratch, Policy(requirement=Requirement.REQUIRED))
        there = tuple(n for n, s in PROBED.items() if s.state is LayerState.APPLIED)
        async with Worker(launch, LIMITS) as worker:
            if names.missing_protections(there):
                with pytest.raises(SandboxError):
                    await worker.request("echo")
            else:
                await worker.request("echo")

    async def test_required_names_the_layer_and_the_remedy(self, scratch: Path) -> None:
        layers = tuple(x for x in LAYERS if x not in (names.NETWORK_NAMESPACE, names.SECCOMP))
        policy = Policy(requirement=Requirement.REQUIRED, layers=layers)
        async with Worker(confined_peer(scratch, policy), LIMITS) as worker:
            with pytest.raises(SandboxError, match=r"network cannot be protected.*seccomp|SECCOMP"):
                await worker.request("echo")
            assert not worker.running
        result = run(confined_peer(scratch, policy))
        assert result.returncode == names.EXIT_SANDBOX
        assert "network cannot be protected" in result.stderr

    async def test_restarts_are_quick_and_leave_nothing(self, scratch: Path) -> None:
        others = len(psutil.Process().children(recursive=True))
        direct = len(psutil.Process().children())
        async with Worker(confined_peer(scratch), LIMITS) as worker:
            await worker.restart()
            before = len(list(Path("/proc/self/fd").iterdir()))
            began = time.monotonic()
            for _ in range(20):
                await worker.restart()
            assert (time.monotonic() - began) / 20 < 5
            assert len(list(Path("/proc/self/fd").iterdir())) == before
            assert len(psutil.Process().children(recursive=True)) <= others + 3
        assert len(psutil.Process().children()) == direct


class TestLean:
    @pytest.mark.parametrize(
        "layers", [LAYERS, tuple(x for x in LAYERS if x not in names.NAMESPACES)]
    )
    async def test_the_embedded_lean_works_inside(
        self, embedded: EmbeddedToolchain, scratch: Path, layers: tuple[str, ...]
    ) -> None:
        """With everything, and as an ordinary user without user namespaces would have it."""
        launch = confine(embedded.worker(scratch), Policy(layers=layers))
        async with Worker(launch, Limits(wall_s=120)) as worker:
            reply = await worker.request("hello", role="elaborator")
            assert reply["githash"] == embedded.commit
            reply = await worker.request(
                "elaborate",
                imports=[["Init"]],
                modules=[{"module": ["A"], "text": "theorem t : 1 + 1 = 2 := by omega"}],
                options={},
                export="out.ndjson",
            )
            assert reply["messages"] == []
        with open_in_scratch(scratch, "out.ndjson") as stream:
            assert stream.readline().startswith(b"{")


# Run in a process of its own, as it cannot be undone: (system call, errno) pairs are refused.
POORER = """
import json, sys
sys.path.insert(0, {source!r}); sys.path.insert(1, {site!r})
from lemmata.lean.sandbox._helper import linux, seccomp
which = ("x86_64", "aarch64").index(linux.machine())
load, equal, bits, answer = 0x20, 0x15, 0x45, 0x06
program = [(load, 0, 0, 0)]
for numbers, code in {refused!r}:
    program += [(equal, 0, 1, numbers[which]), (answer, 0, 0, 0x50000 | code)]
if {no_namespaces!r}:
    program += [(equal, 0, 3, (56, 220)[which]), (load, 0, 0, 16),
                (bits, 0, 1, 0x7E020000), (answer, 0, 0, 0x50001)]
program += [(answer, 0, 0, 0x7FFF0000)]
linux.prctl("PR_SET_NO_NEW_PRIVS", linux.PR_SET_NO_NEW_PRIVS, 1)
seccomp.install(program)

import asyncio
from pathlib import Path
from lemmata.errors import SandboxError
from lemmata.lean.launch import Launch
from lemmata.lean.sandbox import Policy, Requirement, confine, probe
from lemmata.lean.worker import Limits, Worker

async def main():
    launch = Launch(({python!r}, "-I", "-S", {peer!r}), {{}}, Path({scratch!r}),
                    (Path(sys.base_prefix), Path({peer!r})))
    async with Worker(confine(launch, Policy()), Limits(wall_s=20)) as worker:
        await worker.request("echo")
        layers = {{s.name: s.state.value for s in worker.layers}}
    policy = Policy(requirement=Requirement.REQUIRED)
    async with Worker(confine(launch, policy), Limits(wall_s=20)) as worker:
        try:
            await worker.request("echo")
            required = ""
        except SandboxError as error:
            required = str(error)
    probed = {{s.name: s.state.value for s in probe()}}
    print(json.dumps({{"layers": layers, "required": required, "probed": probed}}))

asyncio.run(main())
"""

# Numbers on x86_64 and aarch64, and the errno they are refused with.
NO_UNSHARE = ((272, 97), errno.EPERM)
NO_MOUNT = ((165, 40), errno.EPERM)
NO_MOUNT_SETATTR = ((442, 442), errno.ENOSYS)
NO_LANDLOCK = ((444, 444), errno.ENOSYS)


class TestPoorerMachines:
    """Best effort starts and tells; required starts only where each protection has a layer."""

    def outcome(
        self,
        scratch: Path,
        refused: list[tuple[tuple[int, int], int]],
        *,
        namespaces: str = "allowed",
        user: str = "own",
    ) -> tuple[dict[str, str], str]:
        """The layers a worker got, and the error of one that required them all."""
        script = POORER.format(
            source=str(SOURCE),
            site=str(SITE),
            refused=refused,
            no_namespaces=namespaces == "refused",
            python=PYTHON,
            peer=str(PEER),
            scratch=str(scratch),
        )
        launch = python(script, scratch, SOURCE, SITE, PEER)
        if user == "ordinary" and os.geteuid() == 0:
            layers = (names.PID_NAMESPACE, names.MOUNT_NAMESPACE, names.UID, names.CAPABILITIES)
            launch = confine(launch, Policy(layers=layers, requirement=Requirement.BEST_EFFORT))
        result = run(launch, timeout=120)
        assert result.returncode == 0, result.stderr
        told = json.loads(result.stdout)
        assert told["layers"] == told["probed"]
        assert "failed" not in told["layers"].values()
        return told["layers"], told["required"]

    def test_no_namespaces(self, scratch: Path) -> None:
        layers, error = self.outcome(scratch, [NO_UNSHARE], namespaces="refused")
        assert {layers[name] for name in names.NAMESPACES} == {"unavailable"}
        assert all(layers[n] == PROBED[n].state.value for n in LAYERS if "landlock" in n)
        assert layers[names.SECCOMP] == PROBED[names.SECCOMP].state.value
        missing = names.missing_protections(
            tuple(name for name, value in layers.items() if value == "applied")
        )
        assert bool(error) == bool(missing)

    @pytest.mark.parametrize("refused", [NO_MOUNT, NO_MOUNT_SETATTR])
    def test_no_mounts(self, scratch: Path, refused: tuple[tuple[int, int], int]) -> None:
        layers, _ = self.outcome(scratch, [refused])
        assert layers[names.MOUNT_NAMESPACE] == "unavailable"
        for name in (names.PID_NAMESPACE, names.NETWORK_NAMESPACE, names.LANDLOCK_FS):
            assert layers[name] == PROBED[name].state.value

    def test_no_landlock(self, scratch: Path) -> None:
        layers, _ = self.outcome(scratch, [NO_LANDLOCK])
        assert {layers[name] for name in LAYERS if "landlock" in name} == {"unavailable"}
        assert layers[names.MOUNT_NAMESPACE] == PROBED[names.MOUNT_NAMESPACE].state.value

    def test_neither(self, scratch: Path) -> None:
        layers, error = self.outcome(scratch, [NO_UNSHARE, NO_LANDLOCK], namespaces="refused")
        assert layers[names.RLIMITS] == layers[names.NO_NEW_PRIVS] == "applied"
        assert "files cannot be protected" in error
        assert "user namespaces" in error and "Landlock" in error

    def test_an_ordinary_user(self, scratch: Path) -> None:
        layers, _ = self.outcome(scratch, [], user="ordinary")
        assert layers[names.UID] == "unavailable"
        assert layers[names.CAPABILITIES] == "applied"
        if os.geteuid() == 0 and applied(names.UID):
            # Root could make namespaces, so an ordinary user can where user namespaces exist.
            allowed = int(Path("/proc/sys/user/max_user_namespaces").read_text()) > 0
            expected = "applied" if allowed else "unavailable"
            assert {layers[name] for name in names.NAMESPACES} == {expected}

    def test_an_ordinary_user_without_user_namespaces(self, scratch: Path) -> None:
        layers, _ = self.outcome(scratch, [NO_UNSHARE], namespaces="refused", user="ordinary")
        assert {layers[name] for name in (*names.NAMESPACES, names.UID)} == {"unavailable"}
        assert layers[names.LANDLOCK_FS] == PROBED[names.LANDLOCK_FS].state.value

    def test_a_system_that_is_not_linux(self, scratch: Path) -> None:
        launch = confine(python("print('ran')", scratch), Policy())
        helper, spec = launch.argv[3], launch.argv[4:]
        code = (
            "import runpy, sys; sys.platform = 'darwin'; sys.argv = sys.argv[1:]; "
            "runpy.run_path(sys.argv[0], run_name='__main__')"
        )
        result = subprocess.run(
            [PYTHON, "-I", "-S", "-c", code, helper, *spec],
            capture_output=True,
            text=True,
            timeout=60,
            env={},
        )
        assert (result.returncode, result.stdout) == (0, "ran\n")
        policy = Policy(requirement=Requirement.REQUIRED)
        spec = confine(python("print('ran')", scratch), policy).argv[4:]
        result = subprocess.run(
            [PYTHON, "-I", "-S", "-c", code, helper, *spec],
            capture_output=True,
            text=True,
            timeout=60,
            env={},
        )
        assert (result.returncode, result.stdout) == (names.EXIT_SANDBOX, "")
        assert "this needs 64-bit Linux" in result.stderr


def interpret(program: list[seccomp.Instruction], data: dict[int, int]) -> int:
    """Classic BPF as far as the filter uses it; ``data`` maps offsets to 32-bit words."""
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, constant = program[at]
        at += 1
        match code:
            case 0x20:
                accumulator = data[constant]
            case 0x15:
                at += if_true if accumulator == constant else if_false
            case 0x35:
                at += if_true if accumulator >= constant else if_false
            case 0x45:
                at += if_true if accumulator & constant else if_false
            case 0x06:
                return constant
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


class TestFilter:
    ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x50026
    ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # noqa: RUF012

    def answer(self, machine: str, number: int, arg0: int = 0, arg1: int = 0) -> int:
        words = {0: number, 4: self.ARCH[machine], 16: arg0, 24: arg1}
        return interpret(seccomp.program(machine), words)

    @given(st.sampled_from(["x86_64", "aarch64"]), st.integers(0, 500))
    def test_each_call_gets_its_answer(self, machine: str, number: int) -> None:
        which = list(self.ARCH).index(machine)
        denied = {numbers[which] for numbers in seccomp._DENIED.values()} - {0}
        absent = {numbers[which] for numbers in seccomp._ABSENT.values()} - {0}
        expected = (
            self.EPERM if number in denied else self.ENOSYS if number in absent else self.ALLOW
        )
        assert self.answer(machine, number) == expected

    @given(st.sampled_from(["x86_64", "aarch64"]), st.integers(0, 2**32 - 1))
    def test_clone_makes_threads_but_no_namespaces(self, machine: str, flags: int) -> None:
        number = {"x86_64": 56, "aarch64": 220}[machine]
        expected = self.EPERM if flags & 0x7E020000 else self.ALLOW
        assert self.answer(machine, number, arg0=flags) == expected

    @pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
    def test_terminals_cannot_be_typed_into(self, machine: str) -> None:
        number = {"x86_64": 16, "aarch64": 29}[machine]
        assert self.answer(machine, number, arg1=0x5412) == self.EPERM
        assert self.answer(machine, number, arg1=0x5401) == self.ALLOW

    def test_other_calling_conventions_are_no_way_round(self) -> None:
        words = {0: 41, 4: 0x40000003, 16: 0, 24: 0}
        assert interpret(seccomp.program("x86_64"), words) == self.KILL
        assert self.answer("x86_64", 0x40000000 | 41) == self.ENOSYS
