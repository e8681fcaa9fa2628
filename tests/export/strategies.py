"""Random exports for property tests, and a slow plain model of terms to compare with."""

from __future__ import annotations

from hypothesis import strategies as st

from lemmata.export import (
    Axiom,
    BinderInfo,
    Declaration,
    Definition,
    Export,
    ExprKind,
    HintKind,
    Hints,
    LevelKind,
    Name,
    Opaque,
    Safety,
    Terms,
    Theorem,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
COMPONENTS = st.one_of(st.integers(0, 2**32 - 1), TEXTS, st.sampled_from(["a", "Nat", "»", '"']))
NAMES = st.lists(COMPONENTS, min_size=1, max_size=3).map(tuple)
NATURALS = st.one_of(st.integers(0, 5), st.integers(0, 10**60))


@st.composite
def exports(draw: st.DrawFn) -> Export:
    """Declarations over random terms: every kind of node, shared parts, closed at the roots.

    Constants never refer to a declaration, so every order is valid.
    """
    terms = Terms()
    names: list[Name] = draw(st.lists(NAMES, min_size=1, max_size=4))
    name = st.sampled_from(names)
    levels = [0]
    for _ in range(draw(st.integers(0, 5))):
        left, right = draw(st.sampled_from(levels)), draw(st.sampled_from(levels))
        match draw(st.sampled_from(list(LevelKind))):
            case LevelKind.SUCC:
                levels.append(terms.add_level_succ(left))
            case LevelKind.MAX:
                levels.append(terms.add_level_max(left, right))
            case LevelKind.IMAX:
                levels.append(terms.add_level_imax(left, right))
            case _:
                levels.append(terms.add_level_param(draw(name)))
    level = st.sampled_from(levels)
    nodes = [terms.add_sort(0)]
    info = st.sampled_from(list(BinderInfo))
    for _ in range(draw(st.integers(0, 15))):
        a, b, c = (draw(st.sampled_from(nodes)) for _ in range(3))
        match draw(st.sampled_from(list(ExprKind))):
            case ExprKind.BVAR:
                nodes.append(terms.add_bvar(draw(st.integers(0, 2))))
            case ExprKind.SORT:
                nodes.append(terms.add_sort(draw(level)))
            case ExprKind.CONST:
                nodes.append(terms.add_const(draw(name), draw(st.lists(level, max_size=2))))
            case ExprKind.NAT:
                nodes.append(terms.add_nat(draw(NATURALS)))
            case ExprKind.STRING:
                nodes.append(terms.add_string(draw(TEXTS)))
            case ExprKind.PROJ:
                nodes.append(terms.add_proj(draw(name), draw(st.integers(0, 3)), a))
            case ExprKind.APP:
                nodes.append(terms.add_app(a, b))
            case ExprKind.LAM:
                nodes.append(terms.add_lam(draw(name), a, b, draw(info)))
            case ExprKind.FORALL:
                nodes.append(terms.add_forall(draw(name), a, b, draw(info)))
            case ExprKind.LET:
                nodes.append(terms.add_let(draw(name), a, b, c))
    closed = st.sampled_from([close(terms, node) for node in nodes])
    declarations: list[Declaration] = []
    for number in range(draw(st.integers(1, 4))):
        own: Name = ("declared", number)
        params = tuple(draw(st.lists(name, max_size=2, unique=True)))
        type_, value = draw(closed), draw(closed)
        match draw(st.integers(0, 3)):
            case 0:
                declarations.append(Axiom(own, params, type_, draw(st.booleans())))
            case 1:
                hints = Hints(HintKind.REGULAR, draw(st.integers(0, 2**32 - 1)))
                safety = draw(st.sampled_from(list(Safety)))
                declarations.append(
                    Definition(own, params, type_, value, hints, safety, (own, draw(name)))
                )
            case 2:
                declarations.append(Theorem(own, params, type_, value, (own,)))
            case _:
                declarations.append(Opaque(own, params, type_, value, False, (own,)))
    return Export(terms, tuple(declarations))


def close(terms: Terms, node: int) -> int:
    sort = terms.add_sort(0)
    while terms.loose_bvar_range(node):
        node = terms.add_lam(("x",), sort, node)
    return node


def level_model(terms: Terms, level: int) -> tuple[object, ...]:
    """A level as a tree of tuples, by recursion."""
    kind = terms.level_kind(level)
    own = (terms.level_param(level),) if kind is LevelKind.PARAM else ()
    return (
        kind.name,
        *own,
        *(level_model(terms, child) for child in terms.level_children(level)),
    )


def model(terms: Terms, index: int) -> tuple[object, ...]:
    """An expression as a tree of tuples, by recursion, without binder names and kinds."""
    kind = terms.kind(index)
    own: tuple[object, ...] = ()
    match kind:
        case ExprKind.BVAR:
            own = (terms.bvar_index(index),)
        case ExprKind.SORT:
            own = (level_model(terms, terms.sort_level(index)),)
        case ExprKind.CONST:
            levels = [level_model(terms, level) for level in terms.const_levels(index)]
            own = (terms.const_name(index), *levels)
        case ExprKind.NAT:
            own = (terms.nat_value(index),)
        case ExprKind.STRING:
            own = (terms.string_value(index),)
        case ExprKind.PROJ:
            own = (terms.proj_type(index), terms.proj_index(index))
        case _:
            pass
    return (kind.name, *own, *(model(terms, child) for child in terms.children(index)))


def full_model(terms: Terms, index: int) -> tuple[object, ...]:
    """As `model`, with binder names and kinds."""
    kind = terms.kind(index)
    own: tuple[object, ...] = ()
    if kind in (ExprKind.LAM, ExprKind.FORALL):
        own = (terms.binder_name(index), terms.binder_info(index))
    elif kind is ExprKind.LET:
        own = (terms.binder_name(index),)
    elif not terms.children(index):
        return model(terms, index)
    elif kind is ExprKind.PROJ:
        own = (terms.proj_type(index), terms.proj_index(index))
    return (kind.name, *own, *(full_model(terms, child) for child in terms.children(index)))


def declared_often(count: int, size: int) -> Export:
    """Definitions ``d0``, ``d1``, …, each of which uses the one before and contains one shared
    term of ``size`` applications."""
    terms = Terms()
    sort = shared = terms.add_sort(0)
    for number in range(size):
        shared = terms.add_app(shared, terms.add_const(("k", number % 50)))
    made: list[Declaration] = []
    for number in range(count):
        own: Name = (f"d{number}",)
        last = terms.add_const((f"d{number - 1}",)) if number else sort
        value = terms.add_app(shared, last)
        hints = Hints(HintKind.ABBREV)
        made.append(Definition(own, (), sort, value, hints, Safety.SAFE, (own,)))
    return Export(terms, tuple(made))
