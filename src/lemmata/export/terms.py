"""Names, levels and expressions as flat arrays.

A `Terms` is three append-only tables. Every node refers only to nodes with smaller indices of its
own table, so a term of any depth is read, walked and written without recursion, and a walk over
indices in increasing order sees children before parents.

One expression node takes 21 bytes: a kind, four fields and its loose bound variable range. Names,
level nodes, lists of levels and literals are stored once each (equal means same index); expression
nodes are stored as they are added, so two equal expressions may have different indices.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from enum import IntEnum

from lemmata.errors import ExportError
from lemmata.export.names import ANONYMOUS, Name, format_name
from lemmata.export.numerals import nat_from_decimal, nat_to_decimal

MAX_FIELD = 2**31 - 1
"""Largest index or count a node can hold (bound variable, projection index, table index)."""


class LevelKind(IntEnum):
    """Kinds of universe levels. Level 0 is `ZERO` in every `Terms`."""

    ZERO = 0
    SUCC = 1
    MAX = 2
    IMAX = 3
    PARAM = 4


class ExprKind(IntEnum):
    """Kinds of expressions, ordered by the number of sub-expressions (0, 0, ..., 1, 2, 2, 2, 3)."""

    BVAR = 0
    SORT = 1
    CONST = 2
    NAT = 3
    STRING = 4
    PROJ = 5
    APP = 6
    LAM = 7
    FORALL = 8
    LET = 9


class BinderInfo(IntEnum):
    """How the argument of a binder is found by the elaborator; the kernel ignores it."""

    DEFAULT = 0
    IMPLICIT = 1
    STRICT_IMPLICIT = 2
    INST_IMPLICIT = 3


CHILD_STEPS: dict[int, tuple[str, ...]] = {
    ExprKind.BVAR: (),
    ExprKind.SORT: (),
    ExprKind.CONST: (),
    ExprKind.NAT: (),
    ExprKind.STRING: (),
    ExprKind.PROJ: ("struct",),
    ExprKind.APP: ("fn", "arg"),
    ExprKind.LAM: ("type", "body"),
    ExprKind.FORALL: ("type", "body"),
    ExprKind.LET: ("type", "value", "body"),
}
"""The name of each sub-expression, in the order of `Terms.children`."""


class Terms:
    """The tables. Fields of an expression by kind (columns of `a`, `b`, `c`, `d`):

    ======= ======================= ================== ============ ============
    kind    a                       b                  c            d
    ======= ======================= ================== ============ ============
    BVAR    de Bruijn index
    SORT    level
    CONST   list of levels                                          name
    NAT     literal (`nats`)
    STRING  literal (`strings`)
    PROJ    structure (expr)        field index                     type name
    APP     function (expr)         argument (expr)
    LAM     type (expr)             body (expr)        binder info  binder name
    FORALL  type (expr)             body (expr)        binder info  binder name
    LET     type (expr)             value (expr)       body (expr)  binder name
    ======= ======================= ================== ============ ============

    `loose` is the loose bound variable range: 0 for a closed expression, else one more than the
    largest loose de Bruijn index. The columns are public for code on a hot path, which must not
    change them; everything else uses the accessors, which do not check the kind.
    """

    __slots__ = (
        "_constants",
        "_digest_done",
        "_digests",
        "_level_digests",
        "_level_ids",
        "_level_list_ids",
        "_name_ids",
        "_nat_ids",
        "_string_ids",
        "a",
        "b",
        "c",
        "d",
        "kinds",
        "level_a",
        "level_b",
        "level_kinds",
        "level_lists",
        "loose",
        "names",
        "nats",
        "strings",
    )

    def __init__(self) -> None:
        self.names: list[Name] = [ANONYMOUS]
        self._name_ids: dict[Name, int] = {ANONYMOUS: 0}
        self.level_kinds = array("B", [LevelKind.ZERO])
        self.level_a = array("I", [0])
        self.level_b = array("I", [0])
        self._level_ids: dict[tuple[int, int, int], int] = {(LevelKind.ZERO, 0, 0): 0}
        self.level_lists: list[tuple[int, ...]] = []
        # By bytes, because Python's hash of many small numbers can be foretold.
        self._level_list_ids: dict[bytes, int] = {}
        self.nats: list[str] = []
        self._nat_ids: dict[str, int] = {}
        self.strings: list[str] = []
        self._string_ids: dict[str, int] = {}
        self.kinds = array("B")
        self.a = array("I")
        self.b = array("I")
        self.c = array("I")
        self.d = array("I")
        self.loose = array("I")
        # Caches of the modules that walk terms; valid for ever because nodes never change.
        self._constants: dict[int, frozenset[Name]] = {}
        self._digests = bytearray()
        self._digest_done = bytearray()
        self._level_digests: list[bytes] = []

    def __len__(self) -> int:
        """The number of expression nodes."""
        return len(self.kinds)

    # Names and literals.

    def add_name(self, name: Name) -> int:
        """The index of a name. Raises `ExportError` for a component that is no Unicode text."""
        index = self._name_ids.get(name)
        if index is None:
            for component in name:
                if isinstance(component, str):
                    _check_text(component)
                elif isinstance(component, bool) or component < 0:
                    raise ExportError(f"{component!r} is not a component of a name")
            index = self._name_ids[name] = len(self.names)
            self.names.append(name)
        return index

    def add_nat_literal(self, decimal: str) -> int:
        """The index in `nats` of a natural number in canonical decimal (not checked).

        Kept as text: nothing here computes with literals, converting a long one is expensive, and
        numbers, whose hash anyone can predict, make bad keys for what an untrusted file contains.
        """
        index = self._nat_ids.get(decimal)
        if index is None:
            index = self._nat_ids[decimal] = len(self.nats)
            self.nats.append(decimal)
        return index

    def add_string_literal(self, text: str) -> int:
        """The index of a text in `strings`. Raises `ExportError` for a lone surrogate."""
        index = self._string_ids.get(text)
        if index is None:
            _check_text(text)
            index = self._string_ids[text] = len(self.strings)
            self.strings.append(text)
        return index

    # Levels: equal levels have equal indices.

    def _add_level(self, kind: LevelKind, a: int, b: int) -> int:
        key = (int(kind), a, b)
        index = self._level_ids.get(key)
        if index is None:
            index = self._level_ids[key] = len(self.level_kinds)
            self.level_kinds.append(kind)
            self.level_a.append(a)
            self.level_b.append(b)
        return index

    def add_level_succ(self, level: int) -> int:
        return self._add_level(LevelKind.SUCC, self._level(level), 0)

    def add_level_max(self, left: int, right: int) -> int:
        return self._add_level(LevelKind.MAX, self._level(left), self._level(right))

    def add_level_imax(self, left: int, right: int) -> int:
        return self._add_level(LevelKind.IMAX, self._level(left), self._level(right))

    def add_level_param(self, name: Name) -> int:
        return self._add_level(LevelKind.PARAM, self.add_name(name), 0)

    def add_level_list(self, levels: tuple[int, ...]) -> int:
        """The index of a list of levels in `level_lists`."""
        key = array("I", map(self._level, levels)).tobytes()
        index = self._level_list_ids.get(key)
        if index is None:
            index = self._level_list_ids[key] = len(self.level_lists)
            self.level_lists.append(levels)
        return index

    def level_kind(self, level: int) -> LevelKind:
        return LevelKind(self.level_kinds[level])

    def level_children(self, level: int) -> tuple[int, ...]:
        """The levels a level is made of: none, one (SUCC) or two (MAX, IMAX)."""
        kind = self.level_kinds[level]
        if kind == LevelKind.SUCC:
            return (self.level_a[level],)
        if kind in (LevelKind.MAX, LevelKind.IMAX):
            return (self.level_a[level], self.level_b[level])
        return ()

    def level_param(self, level: int) -> Name:
        """The name of a PARAM level."""
        return self.names[self.level_a[level]]

    # Expressions: every call adds a node. `TermsBuilder` shares equal ones.

    def _add(self, kind: ExprKind, a: int, b: int, c: int, d: int, loose: int) -> int:
        index = len(self.kinds)
        if max(index, a, b, c, d, loose) > MAX_FIELD:
            raise ExportError(f"an index of an expression is above {MAX_FIELD}")
        self.kinds.append(kind)
        self.a.append(a)
        self.b.append(b)
        self.c.append(c)
        self.d.append(d)
        self.loose.append(loose)
        return index

    def _expr(self, index: int) -> int:
        if not 0 <= index < len(self.kinds):
            raise ExportError(f"there is no expression {index}")
        return index

    def _level(self, index: int) -> int:
        if not 0 <= index < len(self.level_kinds):
            raise ExportError(f"there is no level {index}")
        return index

    def add_bvar(self, index: int) -> int:
        if index < 0:
            raise ExportError("a bound variable index cannot be negative")
        return self._add(ExprKind.BVAR, index, 0, 0, 0, index + 1)

    def add_sort(self, level: int) -> int:
        return self._add(ExprKind.SORT, self._level(level), 0, 0, 0, 0)

    def add_const(self, name: Name, levels: Iterable[int] = ()) -> int:
        level_list = self.add_level_list(tuple(levels))
        return self._add(ExprKind.CONST, level_list, 0, 0, self.add_name(name), 0)

    def add_app(self, fn: int, arg: int) -> int:
        loose = max(self.loose[self._expr(fn)], self.loose[self._expr(arg)])
        return self._add(ExprKind.APP, fn, arg, 0, 0, loose)

    def _add_binder(
        self, kind: ExprKind, name: Name, type_: int, body: int, info: BinderInfo
    ) -> int:
        loose = max(self.loose[self._expr(type_)], self.loose[self._expr(body)] - 1)
        return self._add(kind, type_, body, info, self.add_name(name), loose)

    def add_lam(
        self, name: Name, type_: int, body: int, info: BinderInfo = BinderInfo.DEFAULT
    ) -> int:
        return self._add_binder(ExprKind.LAM, name, type_, body, info)

    def add_forall(
        self, name: Name, type_: int, body: int, info: BinderInfo = BinderInfo.DEFAULT
    ) -> int:
        return self._add_binder(ExprKind.FORALL, name, type_, body, info)

    def add_let(self, name: Name, type_: int, value: int, body: int) -> int:
        loose = max(
            self.loose[self._expr(type_)],
            self.loose[self._expr(value)],
            self.loose[self._expr(body)] - 1,
        )
        return self._add(ExprKind.LET, type_, value, body, self.add_name(name), loose)

    def add_proj(self, type_name: Name, index: int, struct: int) -> int:
        if index < 0:
            raise ExportError("a projection index cannot be negative")
        name = self.add_name(type_name)
        return self._add(ExprKind.PROJ, self._expr(struct), index, 0, name, self.loose[struct])

    def add_nat(self, value: int) -> int:
        if value < 0:
            raise ExportError("a natural number literal cannot be negative")
        return self.add_nat_decimal(nat_to_decimal(value))

    def add_nat_decimal(self, decimal: str) -> int:
        """As `add_nat`, of a number in canonical decimal (not checked)."""
        return self._add(ExprKind.NAT, self.add_nat_literal(decimal), 0, 0, 0, 0)

    def add_string(self, text: str) -> int:
        return self._add(ExprKind.STRING, self.add_string_literal(text), 0, 0, 0, 0)

    # Accessors: each is meaningful for the kinds it names.

    def kind(self, index: int) -> ExprKind:
        return ExprKind(self.kinds[index])

    def children(self, index: int) -> tuple[int, ...]:
        """The sub-expressions, in the order of `CHILD_STEPS`."""
        kind = self.kinds[index]
        if kind < ExprKind.PROJ:
            return ()
        if kind == ExprKind.PROJ:
            return (self.a[index],)
        if kind == ExprKind.LET:
            return (self.a[index], self.b[index], self.c[index])
        return (self.a[index], self.b[index])

    def loose_bvar_range(self, index: int) -> int:
        return self.loose[index]

    def bvar_index(self, index: int) -> int:
        return self.a[index]

    def sort_level(self, index: int) -> int:
        return self.a[index]

    def const_name(self, index: int) -> Name:
        return self.names[self.d[index]]

    def const_levels(self, index: int) -> tuple[int, ...]:
        return self.level_lists[self.a[index]]

    def app_fn(self, index: int) -> int:
        return self.a[index]

    def app_arg(self, index: int) -> int:
        return self.b[index]

    def binder_name(self, index: int) -> Name:
        """LAM, FORALL and LET."""
        return self.names[self.d[index]]

    def binder_info(self, index: int) -> BinderInfo:
        """LAM and FORALL."""
        return BinderInfo(self.c[index])

    def binder_type(self, index: int) -> int:
        """LAM, FORALL and LET."""
        return self.a[index]

    def binder_body(self, index: int) -> int:
        """LAM and FORALL."""
        return self.b[index]

    def let_value(self, index: int) -> int:
        return self.b[index]

    def let_body(self, index: int) -> int:
        return self.c[index]

    def proj_type(self, index: int) -> Name:
        return self.names[self.d[index]]

    def proj_index(self, index: int) -> int:
        return self.b[index]

    def proj_struct(self, index: int) -> int:
        return self.a[index]

    def nat_value(self, index: int) -> int:
        return nat_from_decimal(self.nats[self.a[index]])

    def nat_decimal(self, index: int) -> str:
        """The number of a NAT in canonical decimal, which costs nothing."""
        return self.nats[self.a[index]]

    def string_value(self, index: int) -> str:
        return self.strings[self.a[index]]

    def reachable(self, roots: Iterable[int]) -> Iterator[int]:
        """Every expression in the roots, each once, in no particular order."""
        stack = list(dict.fromkeys(roots))
        seen = set(stack)
        kinds, a, b, c = self.kinds, self.a, self.b, self.c
        while stack:
            index = stack.pop()
            yield index
            kind = kinds[index]
            if kind < 5:
                continue
            child = a[index]
            if child not in seen:
                seen.add(child)
                stack.append(child)
            if kind > 5:
                child = b[index]
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
                if kind == 9:
                    child = c[index]
                    if child not in seen:
                        seen.add(child)
                        stack.append(child)


def _check_text(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            shown = format_name((text[:80],))
            raise ExportError(f"the text {shown} contains a lone surrogate") from None
