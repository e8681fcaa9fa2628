"""Comparing expressions of two exports, and finding where they differ.

Equality is Lean's: up to the names and kinds of binders, everything else to the letter. Two
pairs that were assumed equal once are not compared again (union-find, as in the comparison of
finite automata by Hopcroft and Karp), so the work is almost linear in the number of distinct
nodes on both sides, however little either side shares.
"""

from __future__ import annotations

from dataclasses import dataclass

from lemmata.export.terms import CHILD_STEPS, ExprKind, LevelKind, Terms


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two expressions part: the way down from the roots (each step one of ``fn``, ``arg``,
    ``type``, ``value``, ``body``, ``struct``) and the two sub-expressions there, which differ in
    kind, name, levels, literal, bound variable or projection index."""

    path: tuple[str, ...]
    left: int
    right: int


def expr_equal(left: Terms, i: int, right: Terms, j: int) -> bool:
    """Whether two expressions are equal up to binder names and binder kinds."""
    return ExprComparison(left, right).equal(i, j)


def first_difference(left: Terms, i: int, right: Terms, j: int) -> Difference | None:
    """The first difference from left to right, or None if the expressions are equal.

    A part that occurs several times is reported where it is first met.
    """
    return ExprComparison(left, right).first_difference(i, j)


class ExprComparison:
    """Comparisons of expressions of `left` with expressions of `right`.

    What was found equal is remembered between calls, so comparing many expressions that share
    parts stays almost linear in all; a difference forgets it.
    """

    def __init__(self, left: Terms, right: Terms) -> None:
        self.left = left
        self.right = right
        self._levels = _LevelComparison(left, right)
        # Union-find over left nodes and, as -1 - index, right nodes.
        self._parents: dict[int, int] = {}

    def equal(self, i: int, j: int) -> bool:
        """Whether two expressions are equal up to binder names and binder kinds."""
        return self.first_difference(i, j) is None

    def first_difference(self, i: int, j: int) -> Difference | None:
        """As the function of that name."""
        left, right = self.left, self.right
        if left is right and i == j:
            return None
        parents = self._parents
        left_kinds, right_kinds = left.kinds, right.kinds
        left_columns = (left.a, left.b, left.c)
        right_columns = (right.a, right.b, right.c)
        # Pairs to compare or compared, as (left, right, index of the pair above, step from it).
        pairs: list[tuple[int, int, int, int]] = [(i, j, -1, 0)]
        stack = [0]
        while stack:
            at = stack.pop()
            x, y, _, _ = pairs[at]
            root_x, root_y = _find(parents, x), _find(parents, -1 - y)
            if root_x == root_y:
                continue
            kind = left_kinds[x]
            if kind != right_kinds[y] or not self._same_node(x, y, kind):
                parents.clear()
                return Difference(_path(left, pairs, at), x, y)
            parents[root_x] = root_y
            for step in range(len(CHILD_STEPS[kind]) - 1, -1, -1):
                stack.append(len(pairs))
                pairs.append((left_columns[step][x], right_columns[step][y], at, step))
        return None

    def _same_node(self, x: int, y: int, kind: int) -> bool:
        """Whether two nodes of one kind agree in everything but their sub-expressions."""
        left, right, levels = self.left, self.right, self._levels
        match kind:
            case ExprKind.APP | ExprKind.LAM | ExprKind.FORALL | ExprKind.LET:
                return True
            case ExprKind.BVAR:
                return left.a[x] == right.a[y]
            case ExprKind.SORT:
                return levels.equal(left.a[x], right.a[y])
            case ExprKind.CONST:
                if left.const_name(x) != right.const_name(y):
                    return False
                ours, theirs = left.const_levels(x), right.const_levels(y)
                return len(ours) == len(theirs) and all(map(levels.equal, ours, theirs))
            case ExprKind.NAT:
                return left.nat_decimal(x) == right.nat_decimal(y)
            case ExprKind.STRING:
                return left.string_value(x) == right.string_value(y)
            case _:
                return left.b[x] == right.b[y] and left.proj_type(x) == right.proj_type(y)


def _find(parents: dict[int, int], node: int) -> int:
    root = node
    while (up := parents.get(root)) is not None:
        root = up
    while node != root:
        parents[node], node = root, parents[node]
    return root


def _path(terms: Terms, pairs: list[tuple[int, int, int, int]], at: int) -> tuple[str, ...]:
    steps: list[str] = []
    while True:
        _, _, above, step = pairs[at]
        if above < 0:
            return tuple(reversed(steps))
        steps.append(CHILD_STEPS[terms.kinds[pairs[above][0]]][step])
        at = above


class _LevelComparison:
    """Structural equality of levels of two `Terms` (`max u v` and `max v u` differ)."""

    def __init__(self, left: Terms, right: Terms) -> None:
        self._left = left
        self._right = right
        # Levels are stored once each, so each left level equals at most one right level.
        self._partner: dict[int, int] = {}

    def equal(self, i: int, j: int) -> bool:
        if self._left is self._right:
            return i == j
        if i in self._partner:
            return self._partner[i] == j
        assumed = {i: j}
        stack = [(i, j)]
        while stack:
            x, y = stack.pop()
            if self._left.level_kinds[x] != self._right.level_kinds[y]:
                return False
            ours, theirs = self._left.level_children(x), self._right.level_children(y)
            if self._left.level_kinds[x] == LevelKind.PARAM and self._left.level_param(
                x
            ) != self._right.level_param(y):
                return False
            for child, other in zip(ours, theirs, strict=True):
                known = assumed.get(child, self._partner.get(child))
                if known is None:
                    assumed[child] = other
                    stack.append((child, other))
                elif known != other:
                    return False
        self._partner.update(assumed)
        return True
