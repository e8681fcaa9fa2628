"""Replaying an export: every declaration is checked by the kernel and then part of what follows.

One `Result` per declaration, in file order. The kernel is believed where it decides; where it gave
up (time, memory, depth, size of numerals) or lacked a constant of the library, the declaration is
undecided, and what needs a declaration that was not accepted is blocked without being asked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Set
from dataclasses import dataclass
from enum import Enum

from lemmata.export import (
    Axiom,
    Declaration,
    Definition,
    Export,
    InductiveGroup,
    Name,
    Opaque,
    Quotient,
    Safety,
    Theorem,
    declaration_terms,
    format_name,
    kind_word,
    used_constants_of_expr,
)
from lemmata.lean.native.declarations import (
    QUOT_DECLARATION,
    DeclarationObjects,
    Generated,
    quotient_names,
)
from lemmata.lean.native.ffi import Library, Obj
from lemmata.lean.native.kernel import KernelEnvironment, Raised, Refusal
from lemmata.lean.native.terms import TermObjects, TermTooLarge

KERNEL_LIMIT = "kernel_limit"
MISSING_BASE_CONSTANT = "missing_base_constant"
GENERATED_MISMATCH = "generated_mismatch"

_LIMITS = {
    Raised.DETERMINISTIC_TIMEOUT,
    Raised.EXCESSIVE_MEMORY,
    Raised.DEEP_RECURSION,
    Raised.INTERRUPTED,
}

# How the texts of OTHER begin or what they contain when the kernel gave up instead of deciding:
# numerals above its size limits, and memory.
_LIMIT_TEXTS = ("the kernel refused", "excessive memory", "out of memory", "stack overflow")


class Outcome(Enum):
    """What became of a declaration."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome for one declaration of the file.

    ``reason`` is empty when accepted or blocked; ``by`` are the failed constants that block it.
    """

    names: tuple[Name, ...]
    kind: str
    outcome: Outcome
    reason: str = ""
    message: str = ""
    by: tuple[Name, ...] = ()
    ms: float = 0.0
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class _Verdict:
    outcome: Outcome
    reason: str = ""
    message: str = ""
    refusal: Refusal | None = None


_ACCEPTED = _Verdict(Outcome.ACCEPTED)


class Replay:
    """One pass over an export. The environment grows by what is accepted."""

    def __init__(
        self,
        library: Library,
        environment: KernelEnvironment,
        export: Export,
        *,
        missing: Set[Name],
        max_heartbeats: int,
        max_rec_depth: int,
    ) -> None:
        """``missing`` are library constants that the environment lacks although they exist."""
        terms = TermObjects(library, export.terms)
        self._environment = environment
        self._export = export
        self._missing = missing
        self._limits = (max_heartbeats, max_rec_depth)
        self._objects = DeclarationObjects(library, terms)
        self._generated = Generated(library, terms, environment)
        self._failed: set[Name] = set()
        self._mutual: dict[Name, _Verdict] = {}
        self._quot_declared_here = False

    def __iter__(self) -> Iterator[Result]:
        for declaration in self._export.declarations:
            yield self.step(declaration)

    def step(self, declaration: Declaration) -> Result:
        """Check one declaration; to be called in file order."""
        names, kind = declaration.names(), kind_word(declaration)
        by = self._blockers(declaration)
        if by:
            self._failed.update(names)
            return Result(names, kind, Outcome.BLOCKED, by=by)
        start = time.perf_counter()
        try:
            verdict = self._check(declaration)
        except TermTooLarge as error:
            verdict = _Verdict(Outcome.UNDECIDED, KERNEL_LIMIT, str(error))
        ms = round((time.perf_counter() - start) * 1000, 3)
        by = self._unknown_failure(verdict)
        if verdict.outcome is not Outcome.ACCEPTED:
            self._failed.update(names)
        if by:
            return Result(names, kind, Outcome.BLOCKED, by=by, ms=ms)
        return Result(
            names,
            kind,
            verdict.outcome,
            verdict.reason,
            verdict.message,
            ms=ms,
            refusal=verdict.refusal,
        )

    def _blockers(self, declaration: Declaration) -> tuple[Name, ...]:
        """Failed constants of this file that the declaration mentions."""
        if not self._failed:
            return ()
        used: set[Name] = set()
        for term in declaration_terms(declaration):
            used |= used_constants_of_expr(self._export.terms, term)
        return tuple(sorted(used & self._failed - set(declaration.names()), key=format_name))

    def _unknown_failure(self, verdict: _Verdict) -> tuple[Name, ...]:
        """The constant the kernel did not know, where it is one that failed earlier."""
        refusal = verdict.refusal
        if refusal is None or refusal.raised is not Raised.UNKNOWN_CONSTANT:
            return ()
        return (refusal.name,) if refusal.name in self._failed else ()

    def _check(self, declaration: Declaration) -> _Verdict:
        for name in declaration.names():
            if name in self._missing:
                # The library has it, so it must not be given another meaning here.
                return _already_declared(name)
        match declaration:
            case Axiom():
                return self._add(self._objects.axiom(declaration))
            case Theorem():
                return self._add(self._objects.theorem(declaration))
            case Opaque():
                return self._add(self._objects.opaque(declaration))
            case Definition():
                return self._definition(declaration)
            case InductiveGroup():
                snapshot = self._environment.snapshot()
                verdict = self._add(self._objects.inductive(declaration))
                return self._compared(declaration, verdict, snapshot)
            case Quotient():
                return self._quotient(declaration)

    def _definition(self, definition: Definition) -> _Verdict:
        group = self._mutual_group(definition)
        if definition.safety is not Safety.PARTIAL and len(group) == 1:
            return self._add(self._objects.definition(definition))
        # The kernel takes a mutual group as a whole, at its first member.
        known = self._mutual.get(definition.name)
        if known is None:
            known = self._add(self._objects.mutual_definitions(group))
            self._mutual.update((member.name, known) for member in group)
        return known

    def _mutual_group(self, definition: Definition) -> list[Definition]:
        """The unsafe or partial definitions that may mention each other; a safe one is alone."""
        if definition.safety is Safety.SAFE:
            return [definition]
        constants = self._export.constants
        members = [
            member
            for name in definition.all
            if isinstance(member := constants.get(name), Definition)
            and member.all == definition.all
            and member.safety is definition.safety
        ]
        return members if definition in members else [definition]

    def _quotient(self, quotient: Quotient) -> _Verdict:
        environment = self._environment
        snapshot = environment.snapshot()
        verdict = _ACCEPTED
        if not self._quot_declared_here:
            # To the kernel, declaring the quotients a second time is no error.
            for name in quotient_names():
                if environment.contains(name):
                    environment.restore(snapshot)
                    return _already_declared(name)
            verdict = self._add(QUOT_DECLARATION)
            self._quot_declared_here = verdict.outcome is Outcome.ACCEPTED
        return self._compared(quotient, verdict, snapshot)

    def _compared(
        self, declaration: InductiveGroup | Quotient, verdict: _Verdict, snapshot: Obj
    ) -> _Verdict:
        """The verdict, or a mismatch with the environment put back to the snapshot."""
        problem = None
        if verdict.outcome is Outcome.ACCEPTED:
            problem = self._generated.mismatch(declaration)
        if problem is None:
            self._environment.forget(snapshot)
            return verdict
        self._environment.restore(snapshot)
        return _Verdict(Outcome.REJECTED, GENERATED_MISMATCH, problem)

    def _add(self, declaration: Obj) -> _Verdict:
        refusal = self._environment.add(declaration, *self._limits)
        if refusal is None:
            return _ACCEPTED
        raised, name = refusal.raised, refusal.name
        if raised in _LIMITS:
            message = f"the kernel gave up: {raised.value.replace('_', ' ')}"
            return _Verdict(Outcome.UNDECIDED, KERNEL_LIMIT, message)
        if raised is Raised.OTHER and any(text in refusal.text.lower() for text in _LIMIT_TEXTS):
            return _Verdict(Outcome.UNDECIDED, KERNEL_LIMIT, refusal.text)
        if raised is Raised.UNKNOWN_CONSTANT and name in self._missing:
            shown = format_name(name) if name is not None else ""
            return _Verdict(
                Outcome.UNDECIDED,
                MISSING_BASE_CONSTANT,
                f"the base of the native kernel lacks the library constant {shown}",
            )
        message = refusal.text or raised.value.replace("_", " ")
        if name is not None:
            message = f"{message} {format_name(name)}"
        return _Verdict(Outcome.REJECTED, raised.value, message, refusal)


def _already_declared(name: Name) -> _Verdict:
    return _Verdict(
        Outcome.REJECTED,
        Raised.ALREADY_DECLARED.value,
        f"{format_name(name)} has already been declared",
    )
