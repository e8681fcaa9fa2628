"""Kernel processes: asking them, and what one answer looks like."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.errors import WorkerError
from lemmata.export import Export, Name, format_name, read_export
from lemmata.judge.axioms import LibraryFact
from lemmata.judge.finding import Finding
from lemmata.judge.produce import UnexpectedReply, name_of
from lemmata.judge.replay import DeclarationResult
from lemmata.judge.verdict import Reason
from lemmata.lean.worker import (
    Worker,
    WorkerCrash,
    WorkerMemory,
    WorkerTimeout,
)


@dataclass(frozen=True)
class Kernel:
    """A kernel process. ``name`` is what reports call it, ``description`` says which program and
    version it is. The process never elaborates and has never seen untrusted text."""

    name: str
    description: str
    worker: Worker
    scratch: Path


async def replay(
    kernel: Kernel, imports: Sequence[Name], export: bytes, heartbeats: int
) -> list[DeclarationResult] | Finding:
    """Have a kernel check every declaration of a delta export, in its order.

    A kernel that does not answer yields a finding (undecided) instead of results.
    """
    path = kernel.scratch / f"replay-{secrets.token_hex(8)}.ndjson"
    path.write_bytes(export)
    path.chmod(0o644)  # the kernel process has a user of its own
    try:
        reply = await kernel.worker.request(
            "replay",
            imports=[list(name) for name in imports],
            file=path.name,
            maxHeartbeats=heartbeats,
        )
        return [_result(entry) for entry in reply.fields["results"]]
    except (WorkerError, KeyError, TypeError) as error:
        return Finding(
            worker_reason(error), f"the {kernel.name} kernel did not answer: {worker_words(error)}"
        )


async def library_part(
    kernel: Kernel, imports: Sequence[Name], names: Iterable[Name], known: Iterable[Name]
) -> Export:
    """What library constants rest on, as data from the Lean kernel process: their closure without
    the modules whose names begin with one of ``known``; theorems as axioms."""
    path = kernel.scratch / f"library-{secrets.token_hex(8)}.ndjson"
    try:
        await kernel.worker.request(
            "export",
            imports=[list(name) for name in imports],
            roots=[list(name) for name in sorted(names, key=format_name)],
            skip=[list(name) for name in known],
            file=path.name,
            kinds_file=f"{path.name}.kinds",
        )
        return read_export(path)
    finally:
        for file in (path, path.with_name(f"{path.name}.kinds")):
            file.unlink(missing_ok=True)


async def library_facts(
    kernel: Kernel, imports: Sequence[Name], names: Iterable[Name]
) -> dict[Name, LibraryFact]:
    """Ask the Lean kernel process what library constants rest on."""
    wanted = sorted(names, key=format_name)
    reply = await kernel.worker.request(
        "describe",
        imports=[list(name) for name in imports],
        names=[list(name) for name in wanted],
    )
    try:
        facts = [_fact(entry) for entry in reply.fields["constants"]]
    except (KeyError, TypeError) as error:
        raise UnexpectedReply(
            f"Lean answered `describe` in an unexpected form ({error!r})"
        ) from None
    found = {fact.name: fact for fact in facts}
    if set(found) != set(wanted):
        raise UnexpectedReply("Lean answered `describe` for other constants than asked")
    return found


def worker_reason(error: Exception) -> Reason:
    """The reason code for a process that did not answer."""
    for kind, reason in (
        (WorkerTimeout, Reason.TIMEOUT),
        (WorkerMemory, Reason.MEMORY),
        (WorkerCrash, Reason.CRASH),
    ):
        if isinstance(error, kind):
            return reason
    return Reason.TOOL_FAILURE


def worker_words(error: Exception) -> str:
    """What to say of a process that did not answer: the error, and its last words if it had any."""
    lines = getattr(error, "stderr", "").strip().splitlines()
    return f"{error} ({lines[-1].strip()[:200]})" if lines else str(error)


def _result(entry: Any) -> DeclarationResult:
    return DeclarationResult(
        tuple(name_of(name) for name in entry["names"]),
        str(entry["outcome"]),
        str(entry.get("reason") or ""),
        str(entry.get("message") or ""),
    )


def _fact(entry: Any) -> LibraryFact:
    return LibraryFact(
        name_of(entry["name"]),
        str(entry["kind"]),
        frozenset(name_of(name) for name in entry["axioms"]),
        tuple(name_of(name) for name in entry["unknown"]),
        int(entry["unknown_count"]),
    )
