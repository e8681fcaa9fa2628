"""Which constants a declaration rests on.

Beyond the constants that occur in a term, a projection uses its structure, and a literal uses
what the kernel expands it to: the structure name is no constant node, and a walk that forgets it
can be made to miss a changed structure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from lemmata.export.declarations import (
    Constant,
    Constructor,
    Declaration,
    Definition,
    Export,
    InductiveGroup,
    InductiveType,
    Opaque,
    Recursor,
    Theorem,
    declaration_terms,
)
from lemmata.export.names import Name, name_key
from lemmata.export.terms import ExprKind, Terms

NAT_LITERAL_CONSTANTS: frozenset[Name] = frozenset({("Nat",)})
"""What a natural number literal stands for values of."""

STRING_LITERAL_CONSTANTS: frozenset[Name] = frozenset(
    {("String",), ("String", "ofList"), ("Char", "ofNat"), ("Char",), ("List",)}
    | {("List", "nil"), ("List", "cons"), ("Nat",)}
)
"""What a string literal expands to: `String.ofList` of a list of `Char.ofNat` of numbers."""


class ConstantWalk:
    """A walk over many expressions of one `Terms` that enters each shared part once.

    ``fresh(roots)`` gives the constants that occur in the roots, except in parts that an earlier
    call on the same walk has entered. All calls together are linear in the number of nodes, so a
    file whose declarations all share one big term cannot make a closure quadratic.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._seen = bytearray(len(terms))

    def fresh(self, roots: Iterable[int]) -> set[Name]:
        """The constants of the parts entered now, structure names and literals included."""
        terms, seen = self._terms, self._seen
        if len(seen) < len(terms):
            seen.extend(bytes(len(terms) - len(seen)))
        kinds, a, b, c, d = terms.kinds, terms.a, terms.b, terms.c, terms.d
        found: set[int] = set()
        nat = string = False
        stack = list(roots)
        while stack:
            index = stack.pop()
            if seen[index]:
                continue
            seen[index] = 1
            kind = kinds[index]
            if kind < ExprKind.PROJ:
                if kind == ExprKind.CONST:
                    found.add(d[index])
                elif kind == ExprKind.NAT:
                    nat = True
                elif kind == ExprKind.STRING:
                    string = True
                continue
            child = a[index]
            if not seen[child]:
                stack.append(child)
            if kind == ExprKind.PROJ:
                found.add(d[index])
                continue
            child = b[index]
            if not seen[child]:
                stack.append(child)
            if kind == ExprKind.LET:
                stack.append(c[index])
        names = terms.names
        result = {names[index] for index in found}
        if nat:
            result |= NAT_LITERAL_CONSTANTS
        if string:
            result |= STRING_LITERAL_CONSTANTS
        return result

    def constant(self, constant: Declaration | Constant) -> set[Name]:
        """As `fresh`, of the terms of a declaration or constant, and all its other links."""
        return self.fresh(declaration_terms(constant)) | linked_constants(constant)


def used_constants_of_expr(terms: Terms, index: int) -> frozenset[Name]:
    """Every constant an expression rests on directly, structure names and literals included.

    Linear in the number of distinct nodes, and remembered. For many expressions that share parts
    use one `ConstantWalk`.
    """
    known = terms._constants.get(index)
    if known is None:
        known = terms._constants[index] = frozenset(_walk(terms, index))
    return known


def _walk(terms: Terms, index: int) -> set[Name]:
    # A set of indices, not a `ConstantWalk`: small terms of a big table stay cheap.
    names, kinds, d = terms.names, terms.kinds, terms.d
    result: set[Name] = set()
    for node in terms.reachable((index,)):
        kind = kinds[node]
        if kind == ExprKind.CONST or kind == ExprKind.PROJ:
            result.add(names[d[node]])
        elif kind == ExprKind.NAT:
            result |= NAT_LITERAL_CONSTANTS
        elif kind == ExprKind.STRING:
            result |= STRING_LITERAL_CONSTANTS
    return result


def linked_constants(declaration: Declaration | Constant) -> set[Name]:
    """The constants a declaration refers to outside its terms: `all` lists, a type's
    constructors, a constructor's type, the constructors of a recursor's rules."""
    linked: set[Name] = set()
    members = declaration.members() if isinstance(declaration, InductiveGroup) else (declaration,)
    for member in members:
        match member:
            case Definition() | Theorem() | Opaque():
                linked.update(member.all)
            case InductiveType():
                linked.update(member.all)
                linked.update(member.constructors)
            case Constructor():
                linked.add(member.induct)
            case Recursor():
                linked.update(member.all)
                linked.update(rule.constructor for rule in member.rules)
            case _:
                pass
    return linked


def used_constants(export: Export, declaration: Declaration | Constant) -> frozenset[Name]:
    """Every constant a declaration, or a single constant, refers to in any way.

    Those of its terms (`used_constants_of_expr`) and its other links (`linked_constants`). A
    declaration's own names are included where it refers to them, as those of an inductive group
    always are.
    """
    used = linked_constants(declaration)
    for term in declaration_terms(declaration):
        used |= used_constants_of_expr(export.terms, term)
    return frozenset(used)


@dataclass(frozen=True, slots=True)
class Closure:
    """What a set of roots rests on.

    ``declared``: constants of the export, whole declarations at a time; ``external``: names met
    that the export does not declare; ``positions``: the declarations, in file order.
    """

    declared: frozenset[Name]
    external: frozenset[Name]
    positions: tuple[int, ...]


def closure(export: Export, roots: Iterable[Name]) -> Closure:
    """Everything reachable from the roots by `used_constants`. A root that the export does not
    declare is external."""
    positions = export.positions
    walk = ConstantWalk(export.terms)
    pending = list(roots)
    met = set(pending)
    reached: set[int] = set()
    declared: set[Name] = set()
    external: set[Name] = set()
    while pending:
        name = pending.pop()
        position = positions.get(name)
        if position is None:
            external.add(name)
            continue
        if position in reached:
            continue
        reached.add(position)
        declaration = export.declarations[position]
        declared.update(declaration.names())
        for used in walk.constant(declaration):
            if used not in met:
                met.add(used)
                pending.append(used)
    return Closure(frozenset(declared), frozenset(external), tuple(sorted(reached)))


def shortest_chain(export: Export, root: Name, target: Name) -> tuple[Name, ...] | None:
    """A shortest path of constants from `root` to `target`, both included, each using the next;
    None when there is none. Among equally short paths the first in the order of names is given.
    Paths end at constants that the export does not declare."""
    constants = export.constants
    # Constants in parts entered before are on the queue already, by an equally short way.
    walk = ConstantWalk(export.terms)
    came_from: dict[Name, Name | None] = {root: None}
    queue = deque([root])
    while queue:
        name = queue.popleft()
        if name == target:
            chain: list[Name] = []
            step: Name | None = name
            while step is not None:
                chain.append(step)
                step = came_from[step]
            return tuple(reversed(chain))
        constant = constants.get(name)
        if constant is None:
            continue
        for used in sorted(walk.constant(constant), key=name_key):
            if used not in came_from:
                came_from[used] = name
                queue.append(used)
    return None
