"""Start of a Lean worker: the package as it is shipped, the slim launcher, the memory snapshot.

    python benchmarks/boot.py [shipped] [slim] [snapshot]

Each row starts one worker process, greets it, has it elaborate one small theorem, and ends it.
Wall time to the first reply ("ready") and to the second; processor time of the process; the
largest resident memory. The last line is the ratio of the first row's "ready" to each other's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from lemmata.lean.embedded.launcher import restore_argv
from lemmata.lean.program_file import write_worker
from lemmata.lean.toolchain import EmbeddedToolchain, embedded_toolchain

THEOREM = "theorem small (a b : Nat) (h : a < b) : a + 1 ≤ b := by omega\n"


@dataclass(frozen=True)
class Row:
    """Seconds and bytes."""

    ready: float
    done: float
    processor: float
    memory: int


class Watch(threading.Thread):
    """Samples a process every 20 ms: its largest memory and its latest processor time."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.memory = 0
        self.processor = 0.0
        self._process = psutil.Process(pid)
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.02):
            try:
                self.memory = max(self.memory, self._process.memory_info().rss)
                times = self._process.cpu_times()
            except psutil.Error:
                return
            self.processor = times.user + times.system

    def end(self) -> None:
        self._over.set()
        self.join()


REQUESTS = (
    {"op": "hello", "role": "elaborator"},
    {
        "op": "elaborate",
        "imports": [["Init"]],
        "modules": [{"module": ["Small"], "text": THEOREM}],
        "options": {},
        "export": "small.ndjson",
    },
)


def measure(argv: Sequence[str], env: Mapping[str, str], scratch: Path) -> Row:
    # A file, because the package as shipped fails on a pipe that is empty for a moment.
    requests = scratch / "requests"
    lines = [json.dumps({"id": 1, "frame": "f0", **request}) for request in REQUESTS]
    requests.write_text("\n".join([*lines, ""]))
    start = time.perf_counter()
    with (
        requests.open("rb") as stdin,
        subprocess.Popen(
            argv, env=env, cwd=scratch, stdin=stdin, stdout=subprocess.PIPE
        ) as process,
    ):
        watch = Watch(process.pid)
        watch.start()
        ready = reply(process, start)
        done = reply(process, start)
        watch.end()
        process.kill()
    return Row(ready, done, watch.processor, watch.memory)


def reply(process: subprocess.Popen[bytes], start: float) -> float:
    """Seconds from ``start`` to the next reply."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(b"f0 "):
            answer = json.loads(line[3:])
            if not answer["ok"]:
                sys.exit(f"the worker refused: {answer['error']}")
            return time.perf_counter() - start
    sys.exit("the worker ended before it answered")


def shipped(toolchain: EmbeddedToolchain, scratch: Path) -> Row:
    installed = toolchain.prepared.installed
    write_worker(scratch, toolchain.version)
    # It sees nothing of the machine but /home and /tmp.
    library = scratch / "library"
    shutil.copytree(installed.library, library)
    glue, _ = (shutil.copy(file, scratch) for file in (installed.glue, installed.wasm))
    argv = [str(toolchain.node.path), str(glue), "--run", "Worker.lean"]
    return measure(argv, {**os.environ, "LEAN_PATH": str(library)}, scratch)


def slim(toolchain: EmbeddedToolchain, scratch: Path) -> Row:
    write_worker(scratch, toolchain.version)
    launch = toolchain.lean(("--run", "Worker.lean"), scratch)
    return measure(launch.argv, launch.env, scratch)


def snapshot(toolchain: EmbeddedToolchain, scratch: Path) -> Row:
    argv, env, _ = restore_argv(toolchain.node.path, toolchain.prepared.files, scratch)
    return measure(argv, env, scratch)


VARIANTS = {"shipped": shipped, "slim": slim, "snapshot": snapshot}


def main() -> None:
    toolchain = embedded_toolchain()
    chosen = sys.argv[1:] or list(VARIANTS)
    print("| start | ready, s | first theorem, s | processor, s | memory, MB |")
    print("|---|---|---|---|---|")
    rows = {}
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="lemmata-boot-", dir="/tmp") as folder:
            row = rows[name] = VARIANTS[name](toolchain, Path(folder))
        print(
            f"| {name} | {row.ready:.2f} | {row.done:.2f} | {row.processor:.1f} | "
            f"{row.memory / 1e6:.0f} |",
            flush=True,
        )
    first = rows[chosen[0]]
    ratios = ", ".join(f"{name} {first.ready / row.ready:.1f}" for name, row in rows.items())
    print(f"\nready, {chosen[0]} against: {ratios}")


if __name__ == "__main__":
    main()
