"""The native kernel process: one JSON request per line in, one framed reply per line out.

It speaks the ``hello`` and ``replay`` of the worker protocol (``docs/dev/architecture.md``) with
the official Lean kernel and a base of checked library constants. The process itself never touches
what a request brings: each ``replay`` runs in a forked child, which shares the base, adds the
declarations of the file with every check on, and ends.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any

from lemmata.errors import LemmataError
from lemmata.export import Name
from lemmata.lean.native.base import Base, load_base
from lemmata.lean.native.child import Limits, ReplayRequest, RequestFailed, replay_in_child
from lemmata.lean.native.ffi import LEAN_GITHASH, LEAN_PLATFORM, LEAN_VERSION

PROTOCOL = 1
_FRAME = re.compile(r"[0-9a-f]{1,128}")
_MAX_COUNT = 2**63 - 1
_FD_STDOUT = 1
_FD_STDERR = 2


class Server:
    """Answers requests over one base."""

    def __init__(self, base: Base, limits: Limits) -> None:
        self._base = base
        self._limits = limits
        self._greeted = False

    def reply(self, line: bytes) -> bytes:
        """The framed reply to a request line. Raises `RequestFailed` when there is no frame to
        answer under."""
        try:
            request = json.loads(line)
            frame, identity = request["frame"], request["id"]
        except (ValueError, KeyError, TypeError):
            raise RequestFailed("a request is not a JSON object with an id and a frame") from None
        if not isinstance(frame, str) or not _FRAME.fullmatch(frame):
            raise RequestFailed("the frame of a request is not lower-case hexadecimal")
        try:
            answer = {"id": identity, "ok": True, **self._answer(request)}
        except LemmataError as error:
            answer = {"id": identity, "ok": False, "error": str(error)}
        return f"\n{frame} {json.dumps(answer)}\n".encode()

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        operation = request.get("op")
        if operation == "hello":
            return self._hello(request)
        if not self._greeted:
            raise RequestFailed("the first request must be hello")
        if operation == "replay":
            return self._replay(request)
        raise RequestFailed(f"the native kernel process does not know the request {operation!r}")

    def _hello(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("role") != "kernel":
            raise RequestFailed("the native kernel process has the role kernel only")
        self._greeted = True
        return {
            "protocol": PROTOCOL,
            "lean": LEAN_VERSION,
            "githash": LEAN_GITHASH,
            "platform": LEAN_PLATFORM,
        }

    def _replay(self, request: dict[str, Any]) -> dict[str, Any]:
        imports = _import_list(request.get("imports"))
        if set(imports) != set(self._base.manifest.imports):
            raise RequestFailed(f"no base for import {json.dumps(imports)}")
        file = request.get("file")
        if not isinstance(file, str) or not file:
            raise RequestFailed("replay needs the name of a file")
        replay = ReplayRequest(
            file=Path(file),
            max_heartbeats=_count(request, "maxHeartbeats"),
            max_rec_depth=_count(request, "maxRecDepth"),
        )
        return {"results": replay_in_child(self._base, replay, self._limits)}


def _import_list(value: Any) -> tuple[Name, ...]:
    if isinstance(value, list) and all(
        isinstance(name, list) and all(isinstance(part, str | int) for part in name)
        for name in value
    ):
        return tuple(tuple(name) for name in value)
    raise RequestFailed("the imports of a request must be a list of names")


def _count(request: dict[str, Any], key: str) -> int:
    value = request.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        raise RequestFailed(f"{key} must be a number from 0 to {_MAX_COUNT}")
    return value


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lemmata.lean.native", description=__doc__)
    parser.add_argument("base", type=Path, help="folder made by build_base")
    parser.add_argument("--wall", type=float, default=600.0, help="seconds per request")
    parser.add_argument(
        "--memory", type=int, default=4 << 30, help="bytes per request, above the base"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Serve standard input until it ends. Exit code 2 when the base cannot be used."""
    options = _arguments(arguments)
    # Replies go to the pipe alone: whatever else writes to standard output reaches standard error.
    replies = os.dup(_FD_STDOUT)
    os.dup2(_FD_STDERR, _FD_STDOUT)
    # Lean's idle event loop is a second thread, which forking leaves behind on purpose.
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
    try:
        base = load_base(options.base)
        server = Server(base, Limits(options.wall, options.memory))
        # Children should not copy pages only because the collector writes to them.
        gc.collect()
        gc.freeze()
        with os.fdopen(replies, "wb") as out:
            for line in sys.stdin.buffer:
                out.write(server.reply(line))
                out.flush()
    except LemmataError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
