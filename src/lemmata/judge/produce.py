"""From source texts to exported declarations, by way of an elaborating process.

Everything an elaborating process says is data to be checked or feedback to be shown.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.errors import ExportError, SandboxError, WorkerError
from lemmata.export import Export, Name, ReadLimits, format_name, read_export
from lemmata.judge.sources import Header, Import, SourceTree
from lemmata.lean.sandbox import open_in_scratch
from lemmata.lean.worker import Worker


class UnexpectedReply(WorkerError):
    """A reply that is well framed but does not have the fields it must have."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the elaborator. ``line`` counts from 1, ``column`` from 0, in codepoints;
    ``compile_only`` marks an error of the toolchain's code generator, which says nothing about
    the proof."""

    module: str
    severity: str
    line: int
    column: int
    kind: str
    text: str
    compile_only: bool

    @property
    def is_error(self) -> bool:
        return self.severity == "error" and not self.compile_only

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column}: {self.text}"


class Unsupported(Exception):
    """The sources use something that this way of elaborating them cannot do; one sentence."""


class UnreadableExport(Exception):
    """What was handed over is no export; ``messages`` are those of the elaboration."""

    def __init__(self, error: ExportError, messages: tuple[Message, ...]) -> None:
        super().__init__(str(error))
        self.messages = messages


@dataclass(frozen=True, slots=True)
class Elaboration:
    """What one elaboration produced: the exported bytes, messages, and seconds per phase."""

    export: Export
    size: int
    messages: tuple[Message, ...]
    seconds: Mapping[str, float]
    printed: str

    @property
    def errors(self) -> tuple[Message, ...]:
        return tuple(message for message in self.messages if message.is_error)


async def parse_header(worker: Worker, text: str) -> Header:
    """Ask Lean's own parser what a source text imports. Runs none of the text."""
    reply = (await worker.request("header", text=text)).fields
    try:
        error = reply.get("error")
        return Header(
            tuple(
                Import(tuple(entry["module"]), bool(entry["found"])) for entry in reply["imports"]
            ),
            bool(reply["prelude"]),
            None if error is None else f"{error['pos'][0]}:{error['pos'][1]}: {error['text']}",
        )
    except (KeyError, TypeError, IndexError) as error:
        raise UnexpectedReply(f"Lean answered `header` in an unexpected form ({error!r})") from None


async def elaborate(
    worker: Worker,
    tree: SourceTree,
    scratch: Path,
    options: Mapping[str, int | bool | str],
    limits: ReadLimits,
) -> Elaboration:
    """Elaborate a source tree and read what it declares.

    Raises the worker's errors, and :class:`UnreadableExport` if what was handed over is no export.
    """
    # A name of its own for every request: nothing of an earlier one can be read by mistake, and the
    # embedded Lean would not see that a file it once wrote has been removed.
    path = scratch / f"declarations-{secrets.token_hex(8)}.ndjson"
    reply = await worker.request(
        "elaborate",
        imports=[list(name) for name in tree.imports],
        modules=[{"module": list(source.name), "text": source.text} for source in tree.modules],
        options=dict(options),
        export=path.name,
    )
    messages = _messages(reply.fields.get("messages"))
    if unsupported := reply.fields.get("unsupported"):
        raise Unsupported(_text(unsupported))
    try:
        data = _read_untrusted(scratch, path.name, limits.max_bytes)
        export = read_export(data, limits)
    except ExportError as error:
        raise UnreadableExport(error, messages) from None
    finally:
        # It may be anything by now, a folder for example; the scratch folder goes in the end.
        with contextlib.suppress(OSError):
            path.unlink()
    return Elaboration(
        export,
        len(data),
        messages,
        _seconds(reply.fields.get("ms")),
        reply.printed,
    )


def _read_untrusted(scratch: Path, name: str, max_bytes: int) -> bytes:
    """Read a file that an untrusted process left behind, up to a limit."""
    try:
        with open_in_scratch(scratch, name) as file:
            data = file.read(max_bytes + 1)
    except SandboxError as error:
        raise ExportError(f"no export was handed over: {error}") from None
    if len(data) > max_bytes:
        raise ExportError(f"the export is larger than the limit of {max_bytes} bytes")
    return data


_MAX_MESSAGES = 5000
_MAX_POSITION = 2**31


def _messages(value: Any) -> tuple[Message, ...]:
    """The messages of an untrusted reply. Too many, or one that is not as it must be, and nothing
    was understood: an error could be among those left out."""
    if not isinstance(value, list) or len(value) > _MAX_MESSAGES:
        raise UnexpectedReply("Lean answered `elaborate` without a list of messages")
    try:
        return tuple(_message(entry) for entry in value)
    except (KeyError, TypeError, ValueError) as error:
        raise UnexpectedReply(f"Lean sent a message in an unexpected form ({error!r})") from None


def _message(entry: Any) -> Message:
    line, column = (_number(part) for part in entry["pos"])
    if not isinstance(entry["compile_only"], bool):
        raise TypeError("compile_only")
    return Message(
        format_name(tuple(map(_component, entry["module"]))),
        _text(entry["severity"]),
        line,
        column,
        _text(entry["kind"]),
        _text(entry["text"]),
        entry["compile_only"],
    )


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _MAX_POSITION:
        raise ValueError("a position is not a number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value.encode("utf-8", "backslashreplace").decode()


def _component(value: Any) -> str | int:
    return _text(value) if isinstance(value, str) else _number(value)


def _seconds(value: Any) -> dict[str, float]:
    """Milliseconds per phase as seconds; what is no such number is left out."""
    if not isinstance(value, dict):
        return {}
    return {
        _text(phase): ms / 1000
        for phase, ms in value.items()
        if type(ms) is int and 0 <= ms < _MAX_POSITION
    }


def name_of(value: Any) -> Name:
    """A name from its JSON form, an array of strings and numbers."""
    if not isinstance(value, list) or not all(isinstance(part, str | int) for part in value):
        raise UnexpectedReply("Lean sent a name in an unexpected form")
    return tuple(value)
