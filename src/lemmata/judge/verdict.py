"""Outcomes and reasons: what the judge can say about a target.

Part of the trusted core (standard library only).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The three outcomes. Undecided is neither of the other two and is never counted as one."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"


class Reason(StrEnum):
    """Why a target was not accepted. ``outcome`` tells on which side a reason lies."""

    # rejected
    MISSING = "missing"
    KIND_MISMATCH = "kind_mismatch"
    STATEMENT_MISMATCH = "statement_mismatch"
    DEPENDENCY_MISMATCH = "dependency_mismatch"
    USES_SORRY = "uses_sorry"
    ILLEGAL_AXIOM = "illegal_axiom"
    REDEFINED = "redefined"
    UNSAFE = "unsafe"
    KERNEL_REJECTED = "kernel_rejected"
    MALFORMED_EXPORT = "malformed_export"
    ELABORATION_ERROR = "elaboration_error"
    # undecided
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    KERNEL_LIMIT = "kernel_limit"
    MISSING_BASE_CONSTANT = "missing_base_constant"
    LIBRARY_AXIOMS_UNKNOWN = "library_axioms_unknown"
    KERNELS_DISAGREE = "kernels_disagree"
    KERNEL_FAULT = "kernel_fault"
    UNSUPPORTED = "unsupported"
    ASSUMPTION_FORBIDDEN = "assumption_forbidden"
    TOOL_FAILURE = "tool_failure"

    @property
    def outcome(self) -> Outcome:
        return Outcome.UNDECIDED if self in _UNDECIDED else Outcome.REJECTED


_UNDECIDED = frozenset(
    {
        Reason.TIMEOUT,
        Reason.MEMORY,
        Reason.CRASH,
        Reason.KERNEL_LIMIT,
        Reason.MISSING_BASE_CONSTANT,
        Reason.LIBRARY_AXIOMS_UNKNOWN,
        Reason.KERNELS_DISAGREE,
        Reason.KERNEL_FAULT,
        Reason.UNSUPPORTED,
        Reason.ASSUMPTION_FORBIDDEN,
        Reason.TOOL_FAILURE,
    }
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome with its reason.

    ``reason`` is ``None`` exactly when the outcome is accepted. A verdict has no truth value:
    ``bool(verdict)`` would have to lie about undecided, so it raises.
    """

    reason: Reason | None
    message: str = ""

    @property
    def outcome(self) -> Outcome:
        return Outcome.ACCEPTED if self.reason is None else self.reason.outcome

    def __bool__(self) -> bool:
        raise TypeError(
            "a verdict has three outcomes and no truth value: compare `verdict.outcome` "
            "with Outcome.ACCEPTED, Outcome.REJECTED or Outcome.UNDECIDED"
        )


ACCEPTED = Verdict(None)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a whole made of parts: rejected before undecided before accepted.

    A part that is rejected settles the whole, whatever else is undecided. Among equals the first
    wins. No parts: accepted.
    """
    undecided: Verdict | None = None
    for verdict in verdicts:
        if verdict.outcome is Outcome.REJECTED:
            return verdict
        if verdict.outcome is Outcome.UNDECIDED and undecided is None:
            undecided = verdict
    return ACCEPTED if undecided is None else undecided
