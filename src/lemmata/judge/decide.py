"""The decision: from two exports, library facts and kernel results to a verdict per target.

Part of the trusted core (standard library only). Nothing here starts a process or believes one
that elaborated untrusted text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lemmata.export import Axiom, Definition, Export, Name, Theorem, format_name, kind_word
from lemmata.judge.axioms import AxiomAudit, LibraryFact, audit, library_constants
from lemmata.judge.compare import (
    compare_axiom,
    compare_hole,
    compare_theorem,
    redefined_primitives,
)
from lemmata.judge.finding import Finding
from lemmata.judge.replay import DeclarationResult, combine, kernel_finding
from lemmata.judge.verdict import Reason


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be judged: theorem targets, definition holes, and the axioms allowed."""

    theorems: tuple[Name, ...]
    definitions: tuple[Name, ...]
    permitted: frozenset[Name]

    @property
    def targets(self) -> tuple[Name, ...]:
        return (*self.theorems, *self.definitions)


@dataclass(frozen=True, slots=True)
class TargetDecision:
    """What was found for one target; ``finding`` is ``None`` when everything holds.

    ``kernels`` has each kernel's finding (``None``: accepted), and is empty when an earlier check
    already failed and no kernel was asked.
    """

    target: Name
    finding: Finding | None
    axioms: frozenset[Name]
    rests_on_hidden_proofs: bool
    kernels: Mapping[str, Finding | None]


class ReferenceProblem(Exception):
    """The challenge does not provide what the config names; one sentence."""


def check_reference(task: Task, reference: Export) -> None:
    """Every target must be declared by the challenge, with the right kind."""
    for names, kind, word in (
        (task.theorems, Theorem, "theorem"),
        (task.definitions, Definition, "definition"),
    ):
        for name in names:
            constant = reference.constants.get(name)
            if constant is None:
                near = _nearest(name, reference)
                raise ReferenceProblem(
                    f"the challenge declares no {word} {format_name(name)}"
                    + (f"; did you mean {near}?" if near else "")
                )
            if not isinstance(constant, kind):
                raise ReferenceProblem(
                    f"{format_name(name)} is listed as a {word}, but the challenge declares it "
                    f"with the kind {kind_word(constant)}"
                )


def _nearest(name: Name, reference: Export) -> str | None:
    from difflib import get_close_matches

    known = [format_name(other) for other in reference.constants]
    matches = get_close_matches(format_name(name), known, n=1, cutoff=0.75)
    return matches[0] if matches else None


def statements(task: Task, reference: Export, solution: Export) -> dict[Name, Finding | None]:
    """The first check: does every target state what the challenge states?"""
    holes = frozenset(task.targets)
    primitive = redefined_primitives(solution)
    found: dict[Name, Finding | None] = {}
    for name in task.theorems:
        found[name] = primitive or compare_theorem(reference, solution, name, holes)
    for name in task.definitions:
        found[name] = primitive or compare_hole(reference, solution, name, holes)
    return found


def library_names(task: Task, solution: Export) -> frozenset[Name]:
    """The library constants whose facts :func:`audits` needs."""
    present = [name for name in task.targets if name in solution.constants]
    return library_constants(solution, present)


def audits(
    task: Task, reference: Export, solution: Export, library: Mapping[Name, LibraryFact]
) -> dict[Name, AxiomAudit]:
    """The second check: which axioms does every target that exists rest on?"""
    holes = frozenset(task.targets)

    def same_axiom(name: Name) -> Finding | None:
        if isinstance(reference.constants.get(name), Axiom):
            return compare_axiom(reference, solution, name, holes)
        return Finding(
            Reason.ILLEGAL_AXIOM,
            f"the solution declares an axiom {format_name(name)} of its own; the name is "
            "permitted, but the challenge declares no such axiom",
            name,
        )

    return {
        name: audit(solution, name, task.permitted, same_axiom, library)
        for name in task.targets
        if name in solution.constants
    }


def worth_replaying(
    task: Task, stated: Mapping[Name, Finding | None], audited: Mapping[Name, AxiomAudit]
) -> tuple[Name, ...]:
    """The targets that passed both checks on data; only these need a kernel."""
    return tuple(
        name
        for name in task.targets
        if stated[name] is None and name in audited and audited[name].finding is None
    )


def decide(
    task: Task,
    solution: Export,
    stated: Mapping[Name, Finding | None],
    audited: Mapping[Name, AxiomAudit],
    kernels: Mapping[str, Sequence[DeclarationResult] | Finding],
) -> tuple[TargetDecision, ...]:
    """Put the three checks together.

    ``kernels`` holds each kernel's results, or a finding where the kernel gave none (it crashed,
    it ran out of time). At least one kernel is required for a target to be accepted.
    """
    replayed = frozenset(worth_replaying(task, stated, audited))
    decisions = []
    for name in task.targets:
        checked = audited.get(name)
        finding = stated[name] or (checked.finding if checked else None)
        by_kernel: dict[str, Finding | None] = {}
        if name in replayed:
            for kernel, results in kernels.items():
                by_kernel[kernel] = (
                    results
                    if isinstance(results, Finding)
                    else kernel_finding(solution, name, kernel, results)
                )
            finding = combine(by_kernel) if by_kernel else _NO_KERNEL
        decisions.append(
            TargetDecision(
                name,
                finding,
                checked.axioms if checked else frozenset(),
                bool(checked and checked.rests_on_hidden_proofs),
                by_kernel,
            )
        )
    return tuple(decisions)


_NO_KERNEL = Finding(Reason.TOOL_FAILURE, "no kernel was there to check the proof")
