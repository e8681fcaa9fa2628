"""Writing lean4export NDJSON, format 3.1.0, canonically.

The bytes depend only on what is written, not on how the terms are numbered or shared in memory:
indices are contiguous, nodes come in post-order at first use, equal nodes (binder names and
kinds included) are written once, object keys are in alphabetical order. Reading a written file
and writing it again gives the same bytes.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

from lemmata.errors import ExportError
from lemmata.export.closure import NAT_LITERAL_CONSTANTS, STRING_LITERAL_CONSTANTS
from lemmata.export.declarations import (
    FORMAT_VERSION,
    Axiom,
    Constant,
    Constructor,
    Declaration,
    Definition,
    Export,
    HintKind,
    InductiveGroup,
    InductiveType,
    Meta,
    Opaque,
    Quotient,
    Recursor,
    Safety,
    Theorem,
    declaration_terms,
)
from lemmata.export.names import Name, format_name
from lemmata.export.terms import BinderInfo, ExprKind, LevelKind, Terms

_ESCAPED = re.compile('[\x00-\x1f"\\\\]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_INFO_WORDS = {
    BinderInfo.DEFAULT: "default",
    BinderInfo.IMPLICIT: "implicit",
    BinderInfo.STRICT_IMPLICIT: "strictImplicit",
    BinderInfo.INST_IMPLICIT: "instImplicit",
}
_FLUSH_LINES = 8192


def write_export(export: Export, out: BinaryIO, names: Iterable[Name] | None = None) -> None:
    """Write the declarations of `names` (all declarations when None) to a binary stream.

    Exactly the declarations that declare a given name are written, with the terms they need; the
    constants they use may be left out, as in a delta export over a base. Pass
    ``closure(export, roots).declared`` to write everything the export has of what they use. The
    four quotient declarations are one unit here.

    Declarations keep their order, except that one comes after those it uses. Raises `ExportError`
    for a name the export does not declare and for declarations that use each other in a circle.
    """
    chosen = _chosen(export, names)
    order = dependency_order(export, chosen)
    writer = _Writer(export.terms, out)
    writer.meta(export.meta)
    for position in order:
        writer.declaration(export.declarations[position])
    writer.flush()


def _chosen(export: Export, names: Iterable[Name] | None) -> set[int]:
    positions = export.positions
    if names is None:
        return set(range(len(export.declarations)))
    chosen = set()
    for name in names:
        if name not in positions:
            raise ExportError(f"the export does not declare {format_name(name)}")
        chosen.add(positions[name])
    if any(isinstance(export.declarations[position], Quotient) for position in chosen):
        chosen.update(
            position
            for position, declaration in enumerate(export.declarations)
            if isinstance(declaration, Quotient)
        )
    return chosen


def dependency_order(export: Export, chosen: Iterable[int]) -> list[int]:
    """Positions of the chosen declarations, each after all declarations it uses.

    A valid order is kept as it is. Dependencies through declarations that are not chosen count
    too. Unsafe and partial definitions may use each other in a circle, so a use of one never
    moves anything; that a declaration uses itself is for the kernel to judge. Raises `ExportError`
    for any other circle.

    Tarjan's strongly connected components (Depth-first search and linear graph algorithms, 1972)
    over declarations and expressions together, so that shared expressions are looked at once. An
    inductive group and the expressions by which it mentions itself are one component.
    """
    wanted = set(chosen)
    graph = _DependencyGraph(export)
    first = graph.first_declaration
    number = array("I", bytes(4 * (first + len(export.declarations))))
    low = array("I", bytes(4 * len(number)))
    on_path = bytearray(len(number))
    path: list[int] = []
    count = 0
    order: list[int] = []
    for root in sorted(wanted):
        if number[first + root]:
            continue
        work: list[tuple[int, Iterator[int]]] = [(first + root, iter(()))]
        entering = True
        while work:
            node, successors = work[-1]
            if entering:
                count += 1
                number[node] = low[node] = count
                path.append(node)
                on_path[node] = 1
                successors = iter(graph.successors(node))
                work[-1] = (node, successors)
                entering = False
            for successor in successors:
                if not number[successor]:
                    work.append((successor, iter(())))
                    entering = True
                    break
                if on_path[successor] and number[successor] < low[node]:
                    low[node] = number[successor]
            if entering:
                continue
            work.pop()
            if work and low[node] < low[work[-1][0]]:
                low[work[-1][0]] = low[node]
            if low[node] != number[node]:
                continue
            members = []
            while True:
                member = path.pop()
                on_path[member] = 0
                if member >= first:
                    members.append(member - first)
                if member == node:
                    break
            if len(members) > 1:
                raise _circle(export.declarations[min(members)])
            order += [member for member in members if member in wanted]
    return order


class _DependencyGraph:
    """Expressions (by index) and declarations (by position, after the expressions) with what each
    refers to."""

    def __init__(self, export: Export) -> None:
        self._export = export
        self.first_declaration = len(export.terms)
        self._names: dict[int, int] = {}
        """Where a constant is declared, by the index of its name; what may be used in a circle is
        left out."""
        quotients = []
        terms = export.terms
        for position, declaration in enumerate(export.declarations):
            if isinstance(declaration, Quotient):
                quotients.append(position)
            if not (isinstance(declaration, Definition) and declaration.safety is not Safety.SAFE):
                for name in declaration.names():
                    self._names[terms.add_name(name)] = self.first_declaration + position
        self._before = {later: earlier for earlier, later in pairwise(quotients)}
        self._nat = self._sites(NAT_LITERAL_CONSTANTS)
        self._string = self._sites(STRING_LITERAL_CONSTANTS)

    def successors(self, node: int) -> Sequence[int]:
        if node >= self.first_declaration:
            return self._of_declaration(node - self.first_declaration)
        terms = self._export.terms
        kind = terms.kinds[node]
        if kind == ExprKind.CONST or kind == ExprKind.PROJ:
            site = self._names.get(terms.d[node])
            found = () if site is None else (site,)
            return found if kind == ExprKind.CONST else (*found, *terms.children(node))
        if kind == ExprKind.NAT:
            return self._nat
        if kind == ExprKind.STRING:
            return self._string
        return terms.children(node)

    def _of_declaration(self, position: int) -> list[int]:
        declaration = self._export.declarations[position]
        found = []
        if position in self._before:
            found.append(self.first_declaration + self._before[position])
        if isinstance(declaration, InductiveGroup):
            # The constructors of the rules of recursors may be declared elsewhere (nested types).
            found += self._sites(
                rule.constructor for recursor in declaration.recursors for rule in recursor.rules
            )
        found += declaration_terms(declaration)
        return found

    def _sites(self, names: Iterable[Name]) -> list[int]:
        terms = self._export.terms
        found = {self._names.get(terms.add_name(name)) for name in names}
        return sorted(site for site in found if site is not None)


def _circle(declaration: Declaration) -> ExportError:
    return ExportError(
        f"the declaration of {format_name(declaration.names()[0])} is part of a circle of"
        " declarations that use each other, so no order of declarations exists"
    )


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _quote(text: str) -> str:
    """A JSON string as the exporter writes it: only what must be escaped is."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _numbers(indices: Iterable[int]) -> str:
    return "[" + ",".join(map(str, indices)) + "]"


class _Writer:
    def __init__(self, terms: Terms, out: BinaryIO) -> None:
        self.terms = terms
        self.out = out
        self.lines: list[str] = []
        self.names: dict[Name, int] = {(): 0}
        self.levels = {0: 0}
        # Node index in `terms` → index in the file, or -1; and the nodes written, by content.
        self.written = array("i", [-1]) * len(terms)
        self.nodes: dict[tuple[int, ...], int] = {}

    def flush(self) -> None:
        if self.lines:
            self.lines.append("")
            self.out.write("\n".join(self.lines).encode())
            self.lines = []

    def meta(self, meta: Meta) -> None:
        self.lines.append(
            f'{{"meta":{{"exporter":{{"name":{_quote(meta.exporter_name)},'
            f'"version":{_quote(meta.exporter_version)}}},'
            f'"format":{{"version":"{FORMAT_VERSION}"}},'
            f'"lean":{{"githash":{_quote(meta.lean_githash)},'
            f'"version":{_quote(meta.lean_version)}}}}}}}'
        )

    def name(self, name: Name) -> int:
        known = self.names.get(name)
        if known is not None:
            return known
        length = len(name) - 1
        while name[:length] not in self.names:
            length -= 1
        index = self.names[name[:length]]
        for end in range(length + 1, len(name) + 1):
            component = name[end - 1]
            prefix, index = index, len(self.names)
            if isinstance(component, int):
                self.lines.append(f'{{"in":{index},"num":{{"i":{component},"pre":{prefix}}}}}')
            else:
                self.lines.append(
                    f'{{"in":{index},"str":{{"pre":{prefix},"str":{_quote(component)}}}}}'
                )
            self.names[name[:end]] = index
        return index

    def level(self, root: int) -> int:
        # Equal levels share an index in `terms`, so the index stands for the content.
        terms, levels = self.terms, self.levels
        stack = [root]
        while stack:
            level = stack[-1]
            if level in levels:
                stack.pop()
                continue
            children = terms.level_children(level)
            missing = [child for child in reversed(children) if child not in levels]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            kind = terms.level_kinds[level]
            if kind == LevelKind.PARAM:
                body = f'"param":{self.name(terms.level_param(level))}'
            elif kind == LevelKind.SUCC:
                body = f'"succ":{levels[children[0]]}'
            else:
                word = "max" if kind == LevelKind.MAX else "imax"
                body = f'"{word}":{_numbers(levels[child] for child in children)}'
            index = levels[level] = len(levels)
            # Alphabetical order: "il" comes before "imax" and the rest.
            self.lines.append(f'{{"il":{index},{body}}}')
        return levels[root]

    def expr(self, root: int) -> int:
        written, kinds = self.written, self.terms.kinds
        a, b, c = self.terms.a, self.terms.b, self.terms.c
        stack = [root]
        while stack:
            node = stack[-1]
            if written[node] >= 0:
                stack.pop()
                continue
            kind = kinds[node]
            if kind >= 5:
                depth = len(stack)
                if kind == 9 and written[c[node]] < 0:
                    stack.append(c[node])
                if kind > 5 and written[b[node]] < 0:
                    stack.append(b[node])
                if written[a[node]] < 0:
                    stack.append(a[node])
                if len(stack) > depth:
                    continue
            stack.pop()
            written[node] = self._node(node, kind)
            if len(self.lines) >= _FLUSH_LINES:
                self.flush()
        return written[root]

    def _node(self, node: int, kind: int) -> int:
        terms, written = self.terms, self.written
        a, b, c = terms.a[node], terms.b[node], terms.c[node]
        # The key holds file indices, so that equal nodes with different indices meet.
        match kind:
            case ExprKind.APP:
                a, b = written[a], written[b]
                key: tuple[int, ...] = (kind, a, b)
            case ExprKind.LAM | ExprKind.FORALL:
                a, b = written[a], written[b]
                key = (kind, a, b, c, terms.d[node])
            case ExprKind.LET:
                a, b, c = written[a], written[b], written[c]
                key = (kind, a, b, c, terms.d[node])
            case ExprKind.PROJ:
                a = written[a]
                key = (kind, a, b, terms.d[node])
            case ExprKind.CONST:
                key = (kind, a, terms.d[node])
            case _:
                key = (kind, a)
        known = self.nodes.get(key)
        if known is not None:
            return known
        # What a node mentions is written before the node itself.
        match kind:
            case ExprKind.APP:
                body = f'"app":{{"arg":{b},"fn":{a}}}'
            case ExprKind.BVAR:
                body = f'"bvar":{a}'
            case ExprKind.CONST:
                name = self.name(terms.const_name(node))
                levels = _numbers([self.level(level) for level in terms.const_levels(node)])
                body = f'"const":{{"name":{name},"us":{levels}}}'
            case ExprKind.LAM | ExprKind.FORALL:
                name = self.name(terms.binder_name(node))
                word = "lam" if kind == ExprKind.LAM else "forallE"
                body = (
                    f'"{word}":{{"binderInfo":"{_INFO_WORDS[BinderInfo(c)]}","body":{b},'
                    f'"name":{name},"type":{a}}}'
                )
            case ExprKind.LET:
                name = self.name(terms.binder_name(node))
                body = f'"letE":{{"body":{c},"name":{name},"nondep":false,"type":{a},"value":{b}}}'
            case ExprKind.PROJ:
                name = self.name(terms.proj_type(node))
                body = f'"proj":{{"idx":{b},"struct":{a},"typeName":{name}}}'
            case ExprKind.SORT:
                body = f'"sort":{self.level(a)}'
            case ExprKind.NAT:
                body = f'"natVal":"{terms.nats[a]}"'
            case _:
                body = f'"strVal":{_quote(terms.strings[a])}'
        index = self.nodes[key] = len(self.nodes)
        # Alphabetical order puts "ie" before the keys that start with a later letter.
        if body < '"ie"':
            self.lines.append(f'{{{body},"ie":{index}}}')
        else:
            self.lines.append(f'{{"ie":{index},{body}}}')
        return index

    def _head(self, constant: Constant) -> dict[str, Any]:
        name = self.name(constant.name)
        params = self._indices(constant.level_params)
        for param in constant.level_params:
            # Some checkers want the level to exist even when no term uses it.
            self.level(self.terms.add_level_param(param))
        return {"name": name, "levelParams": params, "type": self.expr(constant.type)}

    def _indices(self, names: tuple[Name, ...]) -> list[int]:
        return [self.name(name) for name in names]

    def declaration(self, declaration: Declaration) -> None:
        line: dict[str, Any]
        match declaration:
            case Axiom():
                line = {"axiom": self._head(declaration) | {"isUnsafe": declaration.is_unsafe}}
            case Definition():
                hints: Any = declaration.hints.kind.value
                if declaration.hints.kind is HintKind.REGULAR:
                    hints = {"regular": declaration.hints.height}
                fields = self._head(declaration) | self._value(declaration)
                line = {"def": fields | {"hints": hints, "safety": declaration.safety.value}}
            case Theorem():
                line = {"thm": self._head(declaration) | self._value(declaration)}
            case Opaque():
                fields = self._head(declaration) | self._value(declaration)
                line = {"opaque": fields | {"isUnsafe": declaration.is_unsafe}}
            case Quotient():
                line = {"quot": self._head(declaration) | {"kind": declaration.kind.value}}
            case InductiveGroup():
                group = declaration.canonical()
                line = {
                    "inductive": {
                        "types": [self._type(type_) for type_ in group.types],
                        "ctors": [self._constructor(ctor) for ctor in group.constructors],
                        "recs": [self._recursor(rec) for rec in group.recursors],
                    }
                }
        self.lines.append(json.dumps(line, sort_keys=True, separators=(",", ":")))

    def _value(self, declaration: Definition | Theorem | Opaque) -> dict[str, Any]:
        return {
            "value": self.expr(declaration.value),
            "all": self._indices(declaration.all),
        }

    def _type(self, type_: InductiveType) -> dict[str, Any]:
        return self._head(type_) | {
            "numParams": type_.num_params,
            "numIndices": type_.num_indices,
            "all": self._indices(type_.all),
            "ctors": self._indices(type_.constructors),
            "numNested": type_.num_nested,
            "isRec": type_.is_recursive,
            "isUnsafe": type_.is_unsafe,
            "isReflexive": type_.is_reflexive,
        }

    def _constructor(self, ctor: Constructor) -> dict[str, Any]:
        return self._head(ctor) | {
            "induct": self.name(ctor.induct),
            "cidx": ctor.index,
            "numParams": ctor.num_params,
            "numFields": ctor.num_fields,
            "isUnsafe": ctor.is_unsafe,
        }

    def _recursor(self, rec: Recursor) -> dict[str, Any]:
        return self._head(rec) | {
            "all": self._indices(rec.all),
            "numParams": rec.num_params,
            "numIndices": rec.num_indices,
            "numMotives": rec.num_motives,
            "numMinors": rec.num_minors,
            "rules": [
                {
                    "ctor": self.name(rule.constructor),
                    "nfields": rule.num_fields,
                    "rhs": self.expr(rule.rhs),
                }
                for rule in rec.rules
            ],
            "k": rec.k,
            "isUnsafe": rec.is_unsafe,
        }
