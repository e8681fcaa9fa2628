"""What kernels say about the declarations a target needs.

Part of the trusted core (standard library only). A target is accepted by a kernel only if that
kernel says ``accepted`` of every single declaration the target needs; a declaration it did not
mention counts as not decided.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lemmata.export import (
    Export,
    Name,
    closure,
    format_name,
    merged,
    read_export,
    write_export,
)
from lemmata.judge.finding import Finding
from lemmata.judge.verdict import Outcome, Reason


@dataclass(frozen=True, slots=True)
class DeclarationResult:
    """A kernel's word on one declaration: ``outcome`` is accepted, rejected, undecided or blocked
    (it needs a declaration that was not accepted); ``reason`` is the kernel's own code."""

    names: tuple[Name, ...]
    outcome: str
    reason: str = ""
    message: str = ""


def needed(solution: Export, targets: Collection[Name]) -> frozenset[Name]:
    """Every constant of the solution that the targets rest on, the targets included."""
    return frozenset(closure(solution, targets).declared)


def replay_file(solution: Export, targets: Collection[Name]) -> bytes:
    """The delta export that kernels are given: only what the targets need, written by us."""
    return _written(solution, needed(solution, targets))


def replay_file_over(library: Export, solution: Export, targets: Collection[Name]) -> bytes:
    """As `replay_file`, for a kernel whose base lacks part of the library: that part comes first.

    Raises `ExportError` if the solution declares a constant of that part anew.
    """
    wanted = needed(solution, targets)
    both = merged(library, read_export(_written(solution, wanted)))
    return _written(both, {*library.constants, *wanted})


def _written(export: Export, names: Collection[Name]) -> bytes:
    out = io.BytesIO()
    write_export(export, out, names)
    return out.getvalue()


def kernel_finding(
    solution: Export, target: Name, kernel: str, results: Iterable[DeclarationResult]
) -> Finding | None:
    """A finding unless the kernel accepted all that the target needs. Rejections come first."""
    by_name = {name: result for result in results for name in result.names}
    undecided: Finding | None = None
    blocked: Finding | None = None
    for name in sorted(needed(solution, [target]), key=format_name):
        result = by_name.get(name)
        if result is None:
            undecided = undecided or Finding(
                Reason.TOOL_FAILURE, f"the {kernel} kernel said nothing about {format_name(name)}"
            )
        elif result.outcome == "rejected":
            return _rejection(kernel, name, result)
        elif result.outcome == "undecided":
            undecided = undecided or Finding(
                _UNDECIDED.get(result.reason, Reason.KERNEL_LIMIT),
                f"the {kernel} kernel did not decide {format_name(name)}: "
                f"{result.message or result.reason}",
                name,
            )
        elif result.outcome != "accepted":
            # Nothing of the solution's own is at fault, so a constant of the library is.
            blocked = blocked or Finding(
                Reason.MISSING_BASE_CONSTANT
                if result.outcome == "blocked"
                else Reason.TOOL_FAILURE,
                f"the {kernel} kernel could not reach {format_name(name)}: "
                f"{result.message or result.outcome}",
                name,
            )
    return undecided or blocked


_UNDECIDED = {"missing_base_constant": Reason.MISSING_BASE_CONSTANT}


def _rejection(kernel: str, name: Name, result: DeclarationResult) -> Finding:
    if result.reason == "already_declared":
        return Finding(
            Reason.REDEFINED,
            f"the solution declares {format_name(name)}, which the library already declares",
            name,
        )
    why = result.message or result.reason.replace("_", " ")
    return Finding(
        Reason.KERNEL_REJECTED, f"the {kernel} kernel rejects {format_name(name)}: {why}", name
    )


def combine(findings: Mapping[str, Finding | None]) -> Finding | None:
    """All kernels must accept. Where one rejects what another accepts, the truth is not known:
    that is undecided, and never accepted."""
    faults = [finding for finding in findings.values() if finding is not None]
    rejections = [f for f in faults if f.reason.outcome is Outcome.REJECTED]
    if rejections and len(faults) < len(findings):
        accepting = ", ".join(kernel for kernel, finding in findings.items() if finding is None)
        return Finding(
            Reason.KERNELS_DISAGREE,
            f"kernels disagree: accepted by {accepting}; but {rejections[0].message}",
            rejections[0].constant,
        )
    if rejections:
        return rejections[0]
    return faults[0] if faults else None
