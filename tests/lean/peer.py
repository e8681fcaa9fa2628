"""A process that speaks the worker protocol and can be told to misbehave in every known way.

Standard library only: ``python peer.py``, one request per line. The operation names the behaviour.
"""

import json
import os
import signal
import subprocess
import sys
import time

# ruff: noqa: PTH109, PTH123, PTH208


def emit(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def reply(request: dict, **fields: object) -> None:
    body = {"id": request["id"], "ok": True, **fields}
    emit(f"\n{request['frame']} {json.dumps(body)}\n")


def sleeper(*, detached: bool) -> int:
    """Start a descendant that would outlive this process by far; returns its process id."""
    code = "import time; time.sleep(600)"
    if detached:
        # Two forks and a session of its own: as far from this process as it can get.
        code = (
            "import os, sys, time\n"
            "if os.fork(): os._exit(0)\n"
            "os.setsid()\n"
            "if os.fork(): os._exit(0)\n"
            "print(os.getpid(), flush=True); os.dup2(2, 1); time.sleep(600)"
        )
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=detached,
    )
    return int(child.stdout.readline()) if detached else child.pid


def serve(request: dict, seen: list[dict]) -> None:
    op = request["op"]
    frame = request["frame"]
    number = request["id"]
    previous = seen[-1]["frame"] if seen else "0" * len(frame)
    match op:
        case "echo":
            reply(request, value=request.get("value"), pid=os.getpid(), served=len(seen))
        case "hello":
            reply(request, role=request["role"])
        case "environment":
            reply(request, environment=dict(os.environ), cwd=os.getcwd(), ignored=ignored())
        case "descriptors":
            reply(request, descriptors=descriptors())
        case "refuse":
            emit(f'\n{frame} {{"id": {number}, "ok": false, "error": "no such module"}}\n')
        case "print":
            emit(request["text"])
            reply(request)
        case "forge":
            forged = json.dumps({"id": number, "ok": True, "forged": True})
            for line in (forged, f"{previous} {forged}", f" {frame} {forged}", f"{frame}{forged}"):
                emit(line + "\n")
            reply(request, forged=False)
        case "raw":
            emit(f"\n{frame} {request['text']}\n".replace("ID", str(number)))
        case "raw_bytes":
            sys.stdout.buffer.write(f"\n{frame} ".encode() + b"\xff\xfe{}\n")
            sys.stdout.buffer.flush()
        case "hang":
            emit("before the hang\n")
            sys.stderr.write("still here\n")
            sys.stderr.flush()
            time.sleep(600)
        case "ignore_signals":
            for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(each, signal.SIG_IGN)
            time.sleep(600)
        case "exit":
            emit("half a line")
            os._exit(request["code"])
        case "signal":
            os.kill(os.getpid(), request["number"])
            time.sleep(600)
        case "answer_and_exit":
            reply(request, last=True)
            os._exit(0)
        case "long_line":
            while True:
                emit("x" * 65536)
        case "flood":
            while True:
                emit("y" * 79 + "\n")
        case "close_output":
            os.close(1)
            time.sleep(600)
        case "allocate":
            held = bytearray(os.urandom(1 << 20)) * request["mib"]
            reply(request, held=len(held))
            time.sleep(request["hold_s"])
        case "allocate_forever":
            held = []
            while True:
                held.append(bytearray(os.urandom(1 << 20)) * 8)
                time.sleep(0.005)
        case "share":
            held = bytearray(os.urandom(1 << 20)) * request["mib"]
            for _ in range(request["forks"]):
                if os.fork() == 0:
                    time.sleep(1)
                    os._exit(0)
            time.sleep(0.5)
            reply(request, held=len(held))
        case "child_allocates":
            code = "h = bytearray(b'z') * (400 << 20)\nimport time; time.sleep(600)"
            subprocess.Popen([sys.executable, "-I", "-S", "-c", code], start_new_session=True)
            time.sleep(600)
        case "spawn":
            reply(request, pid=sleeper(detached=request["detached"]))
        case "spawn_and_exit":
            sleeper(detached=True)
            os._exit(3)
        case "late_output":
            reply(request)
            time.sleep(0.1)
            emit("printed between requests")
        case _:
            emit(f'\n{frame} {{"id": {number}, "ok": false, "error": "unknown op"}}\n')


def ignored() -> list[int]:
    with open("/proc/self/status") as status:
        mask = next(int(line.split()[1], 16) for line in status if line.startswith("SigIgn:"))
    return [number for number in range(1, 32) if mask >> (number - 1) & 1]


def descriptors() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]


if __name__ == "__main__":
    served: list[dict] = []
    for line in sys.stdin:
        message = json.loads(line)
        serve(message, served)
        served.append(message)
