"""Does the solution state what the challenge states?

Part of the trusted core (standard library only). Follows the Comparator's rule: a target's own
universe parameters and type must be equal, and so must the whole record of every declaration
reached from it, bodies included. Both exports are deltas over the same library, so a constant that
the challenge takes from the library is the same constant in the solution exactly when the solution
does not declare it anew.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields

from lemmata.export import (
    Constant,
    ConstantWalk,
    Declaration,
    Definition,
    Export,
    ExprComparison,
    Hints,
    InductiveGroup,
    Name,
    RecursorRule,
    Theorem,
    format_expr,
    format_name,
    kind_word,
)
from lemmata.judge.finding import Finding
from lemmata.judge.verdict import Reason

PRIMITIVES: frozenset[Name] = frozenset(
    {
        *(
            ("Nat", name)
            for name in (
                *("add", "sub", "mul", "pow", "gcd", "div", "mod", "beq", "ble", "land", "lor"),
                *("xor", "shiftLeft", "shiftRight", "log2", "zero", "succ", "rec"),
            )
        ),
        *(("String", name) for name in ("ofList", "mk", "ofByteArray")),
        *(("Char", name) for name in ("ofNat", "mk")),
        *(("List", name) for name in ("nil", "cons")),
        *(("Quot", name) for name in ("mk", "lift", "ind", "sound")),
        *((name,) for name in ("Nat", "String", "Char", "List", "Quot", "Eq", "eagerReduce")),
        *(("Lean", name) for name in ("reduceBool", "reduceNat")),
    }
)
"""Constants to which the kernel gives a meaning by name. A solution must not declare any."""

_TERM_FIELDS = frozenset({"type", "value", "rhs"})


def redefined_primitives(solution: Export) -> Finding | None:
    """A finding if the solution declares a constant that the kernel knows by name."""
    taken = PRIMITIVES.intersection(solution.constants)
    if not taken:
        return None
    name = min(taken, key=format_name)
    return Finding(
        Reason.REDEFINED,
        f"the solution declares {format_name(name)}, which has a fixed meaning in the kernel",
        name,
    )


def compare_theorem(
    reference: Export, solution: Export, target: Name, holes: Collection[Name]
) -> Finding | None:
    """Compare a theorem's statement and all it rests on.

    ``holes`` are the names whose bodies the solution is free to choose (all theorem and definition
    targets). The challenge must declare ``target`` as a theorem.
    """
    found = solution.constants.get(target)
    if found is None:
        return _missing(target, "theorem")
    if not isinstance(found, Theorem):
        return _kind(target, "theorem", found)
    return _compare_statement(reference, solution, target, holes)


def compare_hole(
    reference: Export, solution: Export, target: Name, holes: Collection[Name]
) -> Finding | None:
    """Compare a definition hole: name, type, universe parameters and safety (Comparator,
    "Definition Holes"); its value, hints and mutual list are the solution's own."""
    found = solution.constants.get(target)
    if found is None:
        return _missing(target, "definition")
    if not isinstance(found, Definition):
        return _kind(target, "definition", found)
    expected = reference.constants[target]
    assert isinstance(expected, Definition)
    if expected.safety is not found.safety:
        return Finding(
            Reason.KIND_MISMATCH,
            f"{format_name(target)} is {found.safety.value} in the solution and "
            f"{expected.safety.value} in the challenge",
            target,
        )
    return _compare_statement(reference, solution, target, holes)


def compare_axiom(
    reference: Export, solution: Export, axiom: Name, holes: Collection[Name]
) -> Finding | None:
    """Compare a permitted axiom that both sides declare themselves."""
    if type(solution.constants[axiom]) is not type(reference.constants[axiom]):
        return _kind(axiom, kind_word(reference.constants[axiom]), solution.constants[axiom])
    return _compare_statement(reference, solution, axiom, holes)


def _missing(target: Name, kind: str) -> Finding:
    return Finding(Reason.MISSING, f"the solution declares no {kind} {format_name(target)}", target)


def _kind(target: Name, expected: str, found: Constant) -> Finding:
    return Finding(
        Reason.KIND_MISMATCH,
        f"{format_name(target)} must be a {expected} and is {_article(kind_word(found))} "
        "in the solution",
        target,
    )


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aio" else f"a {word}"


def _compare_statement(
    reference: Export, solution: Export, target: Name, holes: Collection[Name]
) -> Finding | None:
    expected, found = reference.constants[target], solution.constants[target]
    comparison = ExprComparison(reference.terms, solution.terms)
    difference = _record_difference(comparison, expected, found, only=("level_params", "type"))
    if difference:
        path, left, right = difference
        return Finding(
            Reason.STATEMENT_MISMATCH,
            f"{format_name(target)} does not state what the challenge states",
            target,
            path,
            left,
            right,
        )
    return _compare_dependencies(reference, solution, comparison, target, holes)


def _compare_dependencies(
    reference: Export,
    solution: Export,
    comparison: ExprComparison,
    target: Name,
    holes: Collection[Name],
) -> Finding | None:
    # A part entered once has given all its constants, so sharing makes nothing quadratic.
    walk = ConstantWalk(reference.terms)
    start = walk.fresh((reference.constants[target].type,))
    came_from: dict[Name, Name] = dict.fromkeys(start, target)
    pending = sorted(start, key=format_name, reverse=True)
    seen = {target, *pending}
    while pending:
        name = pending.pop()
        if name not in reference.constants:
            if name in solution.constants:
                return Finding(
                    Reason.REDEFINED,
                    f"the solution declares {format_name(name)} anew, which the statement of "
                    f"{format_name(target)} takes from the library",
                    name,
                    chain=_trace(came_from, target, name),
                )
            continue
        if name in holes:
            # A hole met inside another statement counts by its type alone; it is judged itself.
            reached = walk.fresh((reference.constants[name].type,))
        else:
            fault = _dependency_fault(reference, solution, comparison, name)
            if fault:
                path, left, right = fault
                return Finding(
                    Reason.DEPENDENCY_MISMATCH,
                    f"{format_name(name)}, which the statement of {format_name(target)} rests on, "
                    + (
                        "is not declared by the solution"
                        if name not in solution.constants
                        else "is not what the challenge declares"
                    ),
                    name,
                    path,
                    left,
                    right,
                    _trace(came_from, target, name),
                )
            reached = walk.constant(reference.declaration(name))
        for other in sorted(reached - seen, key=format_name, reverse=True):
            seen.add(other)
            came_from[other] = name
            pending.append(other)
    return None


def _trace(came_from: dict[Name, Name], target: Name, name: Name) -> tuple[Name, ...]:
    chain = [name]
    while chain[-1] != target:
        chain.append(came_from[chain[-1]])
    return tuple(reversed(chain))


_Difference = tuple[tuple[str, ...], str, str]


def _dependency_fault(
    reference: Export, solution: Export, comparison: ExprComparison, name: Name
) -> _Difference | None:
    if name not in solution.constants:
        return ((), kind_word(reference.constants[name]), "nothing")
    left, right = reference.declaration(name), solution.declaration(name)
    if type(left) is not type(right):
        return ((), kind_word(left), kind_word(right))
    if isinstance(left, InductiveGroup) and isinstance(right, InductiveGroup):
        return _group_difference(comparison, left, right)
    return _record_difference(comparison, left, right)


def _group_difference(
    comparison: ExprComparison, left: InductiveGroup, right: InductiveGroup
) -> _Difference | None:
    if left.names() != right.names():
        return (("members",), _names(left.names()), _names(right.names()))
    for mine, theirs in zip(left.members(), right.members(), strict=True):
        difference = _record_difference(comparison, mine, theirs)
        if difference:
            path, expected, found = difference
            return ((format_name(mine.name), *path), expected, found)
    return None


def _record_difference(
    comparison: ExprComparison,
    left: Declaration | Constant | RecursorRule,
    right: Declaration | Constant | RecursorRule,
    only: tuple[str, ...] | None = None,
) -> _Difference | None:
    """The first field in which two records differ; names of bound variables do not count."""
    for field in fields(left):
        if only is not None and field.name not in only:
            continue
        mine, theirs = getattr(left, field.name), getattr(right, field.name)
        if isinstance(mine, Hints) and isinstance(theirs, Hints):
            # The height follows from what a body uses, filled holes included, and decides only in
            # which order definitions are unfolded.
            mine, theirs = mine.kind, theirs.kind
        if field.name in _TERM_FIELDS:
            difference = _term_difference(comparison, mine, theirs)
        elif field.name == "rules":
            difference = _rules_difference(comparison, mine, theirs)
        else:
            difference = None if mine == theirs else ((), _show(mine), _show(theirs))
        if difference:
            path, expected, found = difference
            return ((field.name, *path), expected, found)
    return None


def _rules_difference(
    comparison: ExprComparison,
    left: tuple[RecursorRule, ...],
    right: tuple[RecursorRule, ...],
) -> _Difference | None:
    if len(left) != len(right):
        return ((), f"{len(left)} rules", f"{len(right)} rules")
    for mine, theirs in zip(left, right, strict=True):
        difference = _record_difference(comparison, mine, theirs)
        if difference:
            path, expected, found = difference
            return ((format_name(mine.constructor), *path), expected, found)
    return None


def _term_difference(comparison: ExprComparison, left: int, right: int) -> _Difference | None:
    difference = comparison.first_difference(left, right)
    if difference is None:
        return None
    return (
        difference.path,
        format_expr(comparison.left, difference.left),
        format_expr(comparison.right, difference.right),
    )


def _names(names: Collection[Name]) -> str:
    return "[" + ", ".join(format_name(name) for name in names) + "]"


def _show(value: object) -> str:
    if isinstance(value, tuple):
        if all(isinstance(part, tuple) for part in value):
            return _names(value)
        return format_name(value)
    return str(getattr(value, "value", value))
