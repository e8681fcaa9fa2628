"""Which axioms does a target rest on?

Part of the trusted core (standard library only). The walk starts at a target and follows types and
values through the solution's own declarations, opaque values and proofs included, whatever their
syntactic form. Where it enters the library it uses *library facts*, which come from a process that
never saw untrusted text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from lemmata.export import (
    Axiom,
    Definition,
    Export,
    InductiveGroup,
    Name,
    Opaque,
    Safety,
    closure,
    format_name,
    shortest_chain,
)
from lemmata.judge.finding import Finding
from lemmata.judge.verdict import Reason

SORRY: Name = ("sorryAx",)
STANDARD_AXIOMS: frozenset[Name] = frozenset(
    {("propext",), ("Quot", "sound"), ("Classical", "choice")}
)
"""The axioms that the library's own theorems are stated to rest on."""


@dataclass(frozen=True, slots=True)
class LibraryFact:
    """What is known of one library constant.

    ``axioms`` are the axioms its visible closure contains (itself, if it is one). ``unknown`` are
    constants of that closure whose proof or body the toolchain does not ship, ``unknown_count`` how
    many there are in all. ``kind`` is ``missing`` if the library has no such constant.
    """

    name: Name
    kind: str
    axioms: frozenset[Name]
    unknown: tuple[Name, ...] = ()
    unknown_count: int = 0


@dataclass(frozen=True, slots=True)
class AxiomAudit:
    """The result for one target. ``rests_on_hidden_proofs`` tells that the result holds only if
    the library's unshipped proofs use no other axioms than the standard three."""

    axioms: frozenset[Name]
    rests_on_hidden_proofs: bool
    finding: Finding | None


def library_constants(solution: Export, roots: Collection[Name]) -> frozenset[Name]:
    """The constants outside the export on which ``roots`` rest."""
    return frozenset(closure(solution, roots).external)


def audit(
    solution: Export,
    target: Name,
    permitted: Collection[Name],
    same_axiom: Callable[[Name], Finding | None],
    library: Mapping[Name, LibraryFact],
) -> AxiomAudit:
    """Walk one target.

    ``same_axiom`` is asked about an axiom that the solution itself declares under a permitted name;
    it answers with a finding unless the challenge declares the same axiom. ``library`` must cover
    :func:`library_constants` of the target.
    """
    reached = closure(solution, [target])
    axioms: set[Name] = set()
    # Made only when it is the one to be told: a chain costs a walk, and there may be thousands.
    faults: dict[Reason, Callable[[], Finding]] = {}
    for name in sorted(reached.declared, key=format_name):
        if _is_unsafe(solution, name):
            faults.setdefault(Reason.UNSAFE, partial(_unsafe, solution, target, name))
        if isinstance(solution.constants[name], Axiom):
            axioms.add(name)
            if name not in permitted:
                _note_illegal(faults, solution, target, name, name)
            elif fault := same_axiom(name):
                faults.setdefault(fault.reason, partial(_as_it_is, fault))
    hidden: Name | None = None
    for name in sorted(reached.external, key=format_name):
        fact = library[name]
        axioms |= fact.axioms
        for axiom in sorted(fact.axioms, key=format_name):
            if axiom not in permitted:
                _note_illegal(faults, solution, target, name, axiom)
        if fact.unknown_count and hidden is None:
            hidden = name
    if hidden is not None and not STANDARD_AXIOMS.issubset(permitted):
        faults[Reason.LIBRARY_AXIOMS_UNKNOWN] = partial(_unknown, target, hidden)
    first = next((faults[reason] for reason in _ORDER if reason in faults), None)
    return AxiomAudit(frozenset(axioms), hidden is not None, first() if first else None)


# An unfinished proof is the commonest fault and the plainest to say, so it comes first.
_ORDER = (
    Reason.USES_SORRY,
    Reason.ILLEGAL_AXIOM,
    Reason.STATEMENT_MISMATCH,
    Reason.DEPENDENCY_MISMATCH,
    Reason.REDEFINED,
    Reason.KIND_MISMATCH,
    Reason.UNSAFE,
    Reason.LIBRARY_AXIOMS_UNKNOWN,
)


def _as_it_is(finding: Finding) -> Finding:
    return finding


def _unsafe(solution: Export, target: Name, name: Name) -> Finding:
    return Finding(
        Reason.UNSAFE,
        f"{format_name(target)} rests on {format_name(name)}, which is unsafe or partial",
        name,
        chain=shortest_chain(solution, target, name) or (),
    )


def _unknown(target: Name, hidden: Name) -> Finding:
    return Finding(
        Reason.LIBRARY_AXIOMS_UNKNOWN,
        f"{format_name(target)} uses {format_name(hidden)} from the library, whose proof "
        "this toolchain does not ship, so its axioms cannot be checked against a list "
        "without the standard three (propext, Quot.sound, Classical.choice); permit them "
        "or use an official toolchain",
        hidden,
    )


def _note_illegal(
    faults: dict[Reason, Callable[[], Finding]],
    solution: Export,
    target: Name,
    name: Name,
    axiom: Name,
) -> None:
    reason = Reason.USES_SORRY if axiom == SORRY else Reason.ILLEGAL_AXIOM
    faults.setdefault(reason, partial(_illegal, solution, target, name, axiom))


def _is_unsafe(solution: Export, name: Name) -> bool:
    declaration = solution.declaration(name)
    match declaration:
        case Definition():
            return declaration.safety is not Safety.SAFE
        case Axiom() | Opaque():
            return declaration.is_unsafe
        case InductiveGroup():
            return any(type_.is_unsafe for type_ in declaration.types)
        case _:
            return False


def _illegal(solution: Export, target: Name, name: Name, axiom: Name) -> Finding:
    chain = tuple(shortest_chain(solution, target, name) or ())
    if name != axiom:
        chain = (*chain, axiom)
    if axiom == SORRY:
        by = chain[-2] if len(chain) > 2 else target
        text = (
            f"{format_name(target)} is unfinished: it contains sorry"
            if by == target
            else f"{format_name(target)} rests on {format_name(by)}, which contains sorry"
        )
        return Finding(Reason.USES_SORRY, text, axiom, chain=chain)
    return Finding(
        Reason.ILLEGAL_AXIOM,
        f"{format_name(target)} rests on the axiom {format_name(axiom)}, which is not permitted",
        axiom,
        chain=chain,
    )
