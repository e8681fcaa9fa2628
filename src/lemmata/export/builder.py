"""Making terms by hand: `TermsBuilder` shares equal nodes and takes short arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lemmata.export.names import Name, parse_name
from lemmata.export.terms import BinderInfo, Terms


def as_name(name: Name | str) -> Name:
    """A name given as such or as dotted text."""
    return parse_name(name) if isinstance(name, str) else name


class TermsBuilder:
    """Adds nodes to `terms` (new ones by default); equal arguments give the same node.

    Names may be given as dotted text (``"Nat.succ"``), levels as numerals or indices from the
    level methods: `level` makes numerals, the others return indices.

    >>> build = TermsBuilder()
    >>> nat = build.const("Nat")
    >>> identity = build.lam("x", nat, build.bvar(0))
    """

    def __init__(self, terms: Terms | None = None) -> None:
        self.terms = Terms() if terms is None else terms
        self._nodes: dict[tuple[object, ...], int] = {}

    def _share(self, key: tuple[object, ...], add: Callable[[], int]) -> int:
        index = self._nodes.get(key)
        if index is None:
            index = self._nodes[key] = add()
        return index

    # Levels.

    def level(self, value: int) -> int:
        """The numeral level `value`."""
        index = 0
        for _ in range(value):
            index = self.terms.add_level_succ(index)
        return index

    def level_param(self, name: Name | str) -> int:
        return self.terms.add_level_param(as_name(name))

    def level_succ(self, level: int) -> int:
        return self.terms.add_level_succ(level)

    def level_max(self, left: int, right: int) -> int:
        return self.terms.add_level_max(left, right)

    def level_imax(self, left: int, right: int) -> int:
        return self.terms.add_level_imax(left, right)

    # Expressions.

    def bvar(self, index: int) -> int:
        return self._share(("bvar", index), lambda: self.terms.add_bvar(index))

    def sort(self, level: int) -> int:
        """`level` is an index from a level method."""
        return self._share(("sort", level), lambda: self.terms.add_sort(level))

    def prop(self) -> int:
        """``Prop``, which is ``Sort 0``."""
        return self.sort(0)

    def type(self, value: int = 0) -> int:
        """``Type value``, which is ``Sort (value + 1)``."""
        return self.sort(self.level(value + 1))

    def const(self, name: Name | str, levels: Iterable[int] = ()) -> int:
        name, levels = as_name(name), tuple(levels)
        return self._share(("const", name, levels), lambda: self.terms.add_const(name, levels))

    def app(self, fn: int, *args: int) -> int:
        """`fn` applied to `args` from left to right."""
        for arg in args:
            fn = self._app(fn, arg)
        return fn

    def _app(self, fn: int, arg: int) -> int:
        return self._share(("app", fn, arg), lambda: self.terms.add_app(fn, arg))

    def lam(
        self, name: Name | str, type: int, body: int, info: BinderInfo = BinderInfo.DEFAULT
    ) -> int:
        name = as_name(name)
        return self._share(
            ("lam", name, type, body, info), lambda: self.terms.add_lam(name, type, body, info)
        )

    def forall(
        self, name: Name | str, type: int, body: int, info: BinderInfo = BinderInfo.DEFAULT
    ) -> int:
        name = as_name(name)
        return self._share(
            ("forall", name, type, body, info),
            lambda: self.terms.add_forall(name, type, body, info),
        )

    def arrow(self, domain: int, codomain: int) -> int:
        """``domain → codomain`` for a `codomain` without loose bound variables."""
        return self.forall("a", domain, codomain)

    def let(self, name: Name | str, type: int, value: int, body: int) -> int:
        name = as_name(name)
        return self._share(
            ("let", name, type, value, body), lambda: self.terms.add_let(name, type, value, body)
        )

    def proj(self, type_name: Name | str, index: int, struct: int) -> int:
        name = as_name(type_name)
        return self._share(
            ("proj", name, index, struct), lambda: self.terms.add_proj(name, index, struct)
        )

    def nat(self, value: int) -> int:
        return self._share(("nat", value), lambda: self.terms.add_nat(value))

    def string(self, text: str) -> int:
        return self._share(("string", text), lambda: self.terms.add_string(text))
