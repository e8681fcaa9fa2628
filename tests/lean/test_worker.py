"""Worker processes that behave, misbehave and vanish. Every test starts real processes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.errors import WorkerError
from lemmata.lean.launch import Launch
from lemmata.lean.worker import (
    Call,
    Limits,
    Recycle,
    Worker,
    WorkerCrash,
    WorkerMemory,
    WorkerProtocol,
    WorkerRefused,
    WorkerTimeout,
    _Exchange,
    _Process,
)

PEER = Path(__file__).with_name("peer.py")
LIMITS = Limits(start_s=20, wall_s=20)


def peer(scratch: Path, **env: str) -> Launch:
    return Launch(
        argv=(sys.executable, "-I", str(PEER)),
        env=env,
        cwd=scratch,
        readable=(Path(sys.base_prefix), Path(sys.prefix), PEER),
    )


@pytest.fixture
async def worker(tmp_path: Path):
    async with Worker(peer(tmp_path), LIMITS) as worker:
        yield worker


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


async def gone(pid: int, within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while alive(pid) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return not alive(pid)


@pytest.fixture(autouse=True)
def others() -> set[int]:
    """The children that other tests of the session keep running."""
    _OTHERS.clear()
    _OTHERS.update(own_children())
    return _OTHERS


_OTHERS: set[int] = set()


def own_children() -> list[int]:
    """The children that this process started during the test, zombies too."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == os.getpid() and int(entry.name) not in _OTHERS:
                    found.append(int(entry.name))
    return found


def descriptors_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


class TestRequests:
    async def test_a_reply_has_fields_text_and_time(self, worker: Worker) -> None:
        reply = await worker.request("echo", value=["α", 1, None])
        assert reply["value"] == ["α", 1, None]
        assert (reply.printed, reply.printed_cut) == ("", 0)
        assert 0 < reply.wall_s < 20
        assert "id" not in reply.fields and "ok" not in reply.fields

    async def test_one_process_serves_many(self, worker: Worker) -> None:
        pids = {(await worker.request("echo"))["pid"] for _ in range(20)}
        assert len(pids) == 1
        assert worker.starts == 1

    async def test_concurrent_requests_are_served_one_at_a_time(self, worker: Worker) -> None:
        replies = await asyncio.gather(*(worker.request("echo", value=n) for n in range(20)))
        assert [reply["value"] for reply in replies] == list(range(20))
        assert [reply["served"] for reply in replies] == list(range(20))

    async def test_large_requests_and_replies(self, worker: Worker) -> None:
        text = "x" * 5_000_000
        assert (await worker.request("echo", value=text))["value"] == text

    async def test_environment_folder_signals_and_descriptors_are_clean(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET", "must not leak")
        async with Worker(peer(tmp_path, LANG="C", HOME="/nowhere"), LIMITS) as worker:
            reply = await worker.request("environment")
            assert (await worker.request("descriptors"))["descriptors"] == [0, 1, 2, 3]
        # The peer is a Python too, which adds this one to its own environment.
        reply["environment"].pop("LC_CTYPE", None)
        assert reply["environment"] == {"LANG": "C", "HOME": "/nowhere"}
        assert reply["cwd"] == str(tmp_path)
        assert set(reply["ignored"]) <= {signal.SIGPIPE, signal.SIGXFSZ}

    async def test_refusal_leaves_the_process_in_use(self, worker: Worker) -> None:
        before = (await worker.request("echo"))["pid"]
        with pytest.raises(WorkerRefused, match="no such module"):
            await worker.request("refuse")
        assert (await worker.request("echo"))["pid"] == before

    async def test_reserved_fields_are_a_programming_error(self, worker: Worker) -> None:
        with pytest.raises(ValueError, match="not fields"):
            await worker.request("echo", frame="abc")

    async def test_greeting_is_sent_after_every_start(self, tmp_path: Path) -> None:
        hello = Call("hello", {"role": "kernel"})
        async with Worker(peer(tmp_path), LIMITS, greeting=(hello,)) as worker:
            await worker.start()
            assert worker.greeted[0]["role"] == "kernel"
            assert (await worker.request("echo"))["served"] == 1
            await worker.restart()
            assert (await worker.request("echo"))["served"] == 1


class TestPrintedText:
    @pytest.mark.parametrize("text", ["", "one\n", "no newline", "a\n\n\nb", "\n", "ü\u2028\r\n"])
    async def test_text_comes_back_exactly(self, worker: Worker, text: str) -> None:
        assert (await worker.request("print", text=text)).printed == text

    async def test_text_is_bounded(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), Limits(printed_bytes=100)) as worker:
            reply = await worker.request("print", text="z" * 79 + "\n" + "z" * 500)
            assert len(reply.printed) == 100
            assert reply.printed_cut >= 480

    async def test_forged_replies_are_text(self, worker: Worker) -> None:
        await worker.request("echo")
        reply = await worker.request("forge")
        assert reply["forged"] is False
        assert reply.printed.count("forged") == 4

    async def test_text_between_requests_belongs_to_none(self, worker: Worker) -> None:
        await worker.request("late_output")
        await asyncio.sleep(0.3)
        reply = await worker.request("print", text="mine")
        assert reply.printed == "mine"

    @settings(max_examples=200, deadline=None)
    @given(
        text=st.text(st.sampled_from('ab \n{"f'), max_size=40),
        cuts=st.lists(st.integers(0, 200), max_size=8),
    )
    async def test_however_the_pipe_cuts_it(self, text: str, cuts: list[int]) -> None:
        """Law: what is read does not depend on where the stream is cut into chunks."""
        frame = "f" * 32
        stream = f'{text}\n{frame} {{"id": 1, "ok": true, "n": 5}}\nrest'.encode()
        process = _Process(LIMITS)
        exchange = _Exchange(
            id=1,
            mark=f"{frame} ".encode(),
            limits=LIMITS,
            sent_at=0.0,
            reply=asyncio.get_running_loop().create_future(),
        )
        process.exchange = exchange
        edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
        for start, end in pairwise(edges):
            process.pipe_data_received(1, stream[start:end])
        assert exchange.reply.result() == {"id": 1, "ok": True, "n": 5}
        assert exchange.printed_text() == text


class TestFailures:
    """After each the process is gone, and the next request finds another."""

    @pytest.fixture(autouse=True)
    async def recovers(self, worker: Worker):
        before = (await worker.request("echo"))["pid"]
        yield
        assert (await worker.request("echo"))["pid"] != before
        assert await gone(before)

    async def test_hang(self, worker: Worker) -> None:
        with pytest.raises(WorkerTimeout, match=r"0\.3 s") as caught:
            await worker.call(Call("hang"), wall_s=0.3)
        assert caught.value.printed == "before the hang\n"
        assert caught.value.stderr == "still here\n"
        assert 0.3 <= caught.value.wall_s < 2

    async def test_a_process_that_ignores_signals(self, worker: Worker) -> None:
        with pytest.raises(WorkerTimeout):
            await worker.call(Call("ignore_signals"), wall_s=0.3)

    async def test_exit(self, worker: Worker) -> None:
        with pytest.raises(WorkerCrash, match="exit code 7") as caught:
            await worker.request("exit", code=7)
        assert caught.value.exit_code == 7
        assert caught.value.printed == "half a line"

    @pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
    async def test_signal(self, worker: Worker, number: signal.Signals) -> None:
        with pytest.raises(WorkerCrash, match=number.name) as caught:
            await worker.request("signal", number=int(number))
        assert caught.value.exit_code == -number

    async def test_killed_helper(self, worker: Worker) -> None:
        assert worker.pid is not None
        task = asyncio.create_task(worker.request("hang"))
        await asyncio.sleep(0.2)
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(WorkerCrash, match="SIGKILL"):
            await task

    async def test_reply_followed_by_exit_counts(self, worker: Worker) -> None:
        assert (await worker.request("answer_and_exit"))["last"] is True
        await asyncio.sleep(0.2)

    async def test_closed_output(self, worker: Worker) -> None:
        with pytest.raises(WorkerCrash, match="closed its standard output"):
            await worker.request("close_output")

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("not json", "not JSON"),
            ('{"id": ID, "ok": true', "not JSON"),
            ('{"id": ID, "ok": true, "x": NaN}', "not JSON"),
            ("[" * 100_000, "not JSON"),
            ("[1]", "not a JSON object"),
            ('{"id": 0, "ok": true}', "has id 0"),
            ('{"ok": true}', "has id None"),
            ('{"id": ID}', '"ok"'),
            ('{"id": ID, "ok": 1}', '"ok"'),
            ('{"id": ID, "ok": false}', '"error"'),
        ],
    )
    async def test_garbage(self, worker: Worker, text: str, reason: str) -> None:
        with pytest.raises(WorkerProtocol, match=reason):
            await worker.request("raw", text=text)

    async def test_reply_that_is_not_utf8(self, worker: Worker) -> None:
        with pytest.raises(WorkerProtocol, match="not JSON"):
            await worker.request("raw_bytes")

    async def test_cancelled_request(self, worker: Worker) -> None:
        task = asyncio.create_task(worker.request("hang"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def test_cancelled_by_an_outer_timeout(self, worker: Worker) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await worker.request("hang")


class TestLimits:
    async def test_endless_line(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), Limits(reply_bytes=1 << 20)) as worker:
            with pytest.raises(WorkerProtocol, match="longer than 1048576"):
                await worker.request("long_line")

    async def test_endless_text(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), Limits(output_bytes=1 << 20)) as worker:
            with pytest.raises(WorkerProtocol, match="more than 1048576") as caught:
                await worker.request("flood")
            assert caught.value.printed.startswith("yyyy")

    async def test_memory(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), Limits(memory_bytes=200 << 20)) as worker:
            with pytest.raises(WorkerMemory, match="limit of 200 MiB"):
                await worker.request("allocate_forever")

    async def test_memory_of_descendants_counts(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), Limits(memory_bytes=200 << 20)) as worker:
            with pytest.raises(WorkerMemory):
                await worker.request("child_allocates")

    async def test_shared_memory_counts_once(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), Limits(memory_bytes=250 << 20)) as worker:
            assert (await worker.request("share", mib=100, forks=4))["held"] == 100 << 20


class TestLife:
    async def test_nothing_runs_before_the_first_request(self, worker: Worker) -> None:
        assert (worker.pid, worker.running, worker.starts, worker.rss_bytes()) == (
            None,
            False,
            0,
            0,
        )
        await worker.request("echo")
        assert worker.running and worker.rss_bytes() > 1 << 20

    async def test_program_that_is_missing(self, tmp_path: Path) -> None:
        launch = Launch(argv=("/bin/sh", "-c", "exec /no/such/program"), env={}, cwd=tmp_path)
        async with Worker(launch, LIMITS) as worker:
            with pytest.raises(WorkerCrash, match="exit code 127") as caught:
                await worker.request("echo")
        assert "/no/such/program" in caught.value.stderr

    async def test_folder_that_vanished(self, tmp_path: Path) -> None:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        async with Worker(peer(scratch), LIMITS) as worker:
            scratch.rmdir()
            with pytest.raises(WorkerCrash, match="cannot be started"):
                await worker.request("echo")

    async def test_program_that_cannot_be_executed(self, tmp_path: Path) -> None:
        program = tmp_path / "program"
        program.write_bytes(b"\0\1 not a program")
        program.chmod(0o755)
        async with Worker(Launch((str(program),), {}, tmp_path), LIMITS) as worker:
            with pytest.raises(WorkerCrash, match=r"program: Exec format error") as caught:
                await worker.request("echo")
        assert caught.value.exit_code == 126

    async def test_closed_worker_stays_closed(self, tmp_path: Path) -> None:
        worker = Worker(peer(tmp_path), LIMITS)
        task = asyncio.create_task(worker.request("hang"))
        await asyncio.sleep(0.3)
        await worker.close()
        with pytest.raises(WorkerCrash, match="was closed"):
            await task
        with pytest.raises(WorkerError, match="closed"):
            await worker.request("echo")

    async def test_closed_while_it_starts(self, tmp_path: Path) -> None:
        worker = Worker(peer(tmp_path), LIMITS)
        task = asyncio.create_task(worker.request("echo"))
        await asyncio.sleep(0)
        await worker.close()
        with pytest.raises(WorkerError, match="closed"):
            await task
        await worker.close()
        assert own_children() == []

    @pytest.mark.parametrize(
        "recycle", [Recycle(max_requests=3), Recycle(max_rss_bytes=1), Recycle(max_age_s=0.0)]
    )
    async def test_recycling(self, tmp_path: Path, recycle: Recycle) -> None:
        async with Worker(peer(tmp_path), LIMITS, recycle=recycle) as worker:
            for _ in range(6):
                await worker.request("echo")
            assert worker.starts == (2 if recycle.max_requests else 6)

    @pytest.mark.parametrize("detached", [False, True])
    async def test_descendants_end_with_the_worker(self, tmp_path: Path, detached: bool) -> None:
        async with Worker(peer(tmp_path), LIMITS) as worker:
            pid = (await worker.request("spawn", detached=detached))["pid"]
            assert alive(pid)
        assert await gone(pid)

    async def test_descendants_end_when_the_program_crashes(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), LIMITS) as worker:
            pid = (await worker.request("spawn", detached=True))["pid"]
            with pytest.raises(WorkerCrash, match="exit code 3"):
                await worker.request("exit", code=3)
            assert await gone(pid)

    async def test_descendants_end_when_the_helper_is_killed(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), LIMITS) as worker:
            pid = (await worker.request("spawn", detached=True))["pid"]
            task = asyncio.create_task(worker.request("hang"))
            await asyncio.sleep(0.3)
            assert worker.pid is not None
            os.kill(worker.pid, signal.SIGKILL)
            with pytest.raises(WorkerCrash):
                await task
        assert await gone(pid)

    async def test_fifty_restarts_leave_nothing_behind(self, tmp_path: Path) -> None:
        async with Worker(peer(tmp_path), LIMITS) as worker:
            await worker.restart()
            gc.collect()
            descriptors = descriptors_open()
            for _ in range(50):
                await worker.restart()
            gc.collect()
            assert descriptors_open() == descriptors
            assert own_children() == [worker.pid]
        assert own_children() == []

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_the_judge_dies_and_takes_all_along(self, tmp_path: Path, number: int) -> None:
        script = textwrap.dedent(
            f"""
            import asyncio, sys
            from pathlib import Path
            from lemmata.lean.launch import Launch
            from lemmata.lean.worker import Worker
            async def main():
                launch = Launch(({sys.executable!r}, "-I", {str(PEER)!r}), {{}}, Path("."))
                worker = Worker(launch)
                own = (await worker.request("echo"))["pid"]
                detached = (await worker.request("spawn", detached=True))["pid"]
                print(worker.pid, own, detached, flush=True)
                await worker.request("hang")
            asyncio.run(main())
            """
        )
        with subprocess.Popen(
            [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        ) as judge:
            assert judge.stdout is not None
            pids = [int(pid) for pid in judge.stdout.readline().split()]
            assert len(pids) == 3 and all(map(alive, pids))
            judge.send_signal(number)
        assert all(asyncio.run(gone(pid)) for pid in pids)
