"""The terms of an export as Lean objects.

Nodes are built in index order, so children exist before parents and nothing recurses. Every object
is kept (see `lemmata.lean.native.ffi`), so no call has to count references.
"""

from __future__ import annotations

from collections.abc import Sequence

from lemmata.export import ExprKind, LevelKind, Name, Terms
from lemmata.export.numerals import nat_from_decimal
from lemmata.lean.native.ffi import Library, NativeKernelError, Obj, box

MAX_BVAR = 2**20 - 2
"""Largest bound variable index that fits the loose-variable range Lean stores in a node."""

_DEPENDENT = 0
_NAT_LITERAL = 0
_STRING_LITERAL = 1


class TermTooLarge(NativeKernelError):
    """A node exceeds a limit of Lean's term representation, so Lean cannot even hold the term."""


class TermObjects:
    """Lean objects for the names, levels and expressions of one `Terms`, built as far as needed."""

    def __init__(self, library: Library, terms: Terms) -> None:
        self._library = library
        self._terms = terms
        self._levels: list[Obj] = [library.level_zero]
        self._level_lists: list[Obj] = []
        self._exprs: list[Obj] = []

    def expr(self, index: int) -> Obj:
        """The object of an expression. Raises `TermTooLarge`."""
        if index >= len(self._exprs):
            self._extend(index + 1)
        return self._exprs[index]

    def names(self, names: Sequence[Name]) -> Obj:
        """A list of names."""
        name = self._library.name
        return self._library.list([name(item) for item in names])

    def _extend_levels(self) -> None:
        library, terms = self._library, self._terms
        levels = self._levels
        for index in range(len(levels), len(terms.level_kinds)):
            kind = terms.level_kinds[index]
            a, b = terms.level_a[index], terms.level_b[index]
            if kind == LevelKind.SUCC:
                obj = library.lean_level_mk_succ(levels[a])
            elif kind == LevelKind.MAX:
                obj = library.lean_level_mk_max(levels[a], levels[b])
            elif kind == LevelKind.IMAX:
                obj = library.lean_level_mk_imax(levels[a], levels[b])
            else:
                obj = library.lean_level_mk_param(library.name(terms.names[a]))
            levels.append(library.keep(obj))
        for level_list in terms.level_lists[len(self._level_lists) :]:
            self._level_lists.append(library.list([levels[level] for level in level_list]))

    def _extend(self, stop: int) -> None:
        """Build the expressions up to ``stop``: about 1 µs each."""
        self._extend_levels()
        library, terms = self._library, self._terms
        levels, level_lists, exprs = self._levels, self._level_lists, self._exprs
        counts = library.counts
        mk_app = library.lean_expr_mk_app
        mk_lambda = library.lean_expr_mk_lambda
        mk_forall = library.lean_expr_mk_forall
        mk_const = library.lean_expr_mk_const
        mk_bvar = library.lean_expr_mk_bvar
        name_of, names = library.name, terms.names
        start = len(exprs)
        for kind, a, b, c, d in zip(
            terms.kinds[start:stop],
            terms.a[start:stop],
            terms.b[start:stop],
            terms.c[start:stop],
            terms.d[start:stop],
            strict=True,
        ):
            if kind == ExprKind.APP:
                obj = mk_app(exprs[a], exprs[b])
            elif kind == ExprKind.LAM:
                obj = mk_lambda(name_of(names[d]), exprs[a], exprs[b], c)
            elif kind == ExprKind.FORALL:
                obj = mk_forall(name_of(names[d]), exprs[a], exprs[b], c)
            elif kind == ExprKind.CONST:
                obj = mk_const(name_of(names[d]), level_lists[a])
            elif kind == ExprKind.BVAR:
                if a > MAX_BVAR:
                    raise TermTooLarge(
                        f"bound variable {a} is above {MAX_BVAR}, the most Lean's terms can hold"
                    )
                obj = mk_bvar(box(a))
            elif kind == ExprKind.SORT:
                obj = library.lean_expr_mk_sort(levels[a])
            elif kind == ExprKind.PROJ:
                obj = library.lean_expr_mk_proj(name_of(names[d]), box(b), exprs[a])
            elif kind == ExprKind.LET:
                obj = library.lean_expr_mk_let(
                    name_of(names[d]), exprs[a], exprs[b], exprs[c], _DEPENDENT
                )
            else:
                obj = library.lean_expr_mk_lit(self._literal(kind, a))
            counts[obj >> 2] = 0
            exprs.append(obj)

    def _literal(self, kind: int, index: int) -> Obj:
        library = self._library
        if kind == ExprKind.NAT:
            return library.constructor(
                _NAT_LITERAL, [library.nat(nat_from_decimal(self._terms.nats[index]))]
            )
        return library.constructor(_STRING_LITERAL, [library.string(self._terms.strings[index])])
