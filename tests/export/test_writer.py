"""The canonical writer and the order of declarations."""

from __future__ import annotations

import io
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.sample import sample, text

from lemmata.errors import ExportError
from lemmata.export import (
    Axiom,
    Constructor,
    Declaration,
    Definition,
    Export,
    HintKind,
    Hints,
    InductiveGroup,
    InductiveType,
    Name,
    Safety,
    TermsBuilder,
    Theorem,
    dependency_order,
    digest,
    format_name,
    merged,
    parse_name,
    read_export,
    write_export,
)

COMPONENTS = st.one_of(st.integers(0, 2**40), st.text(st.characters(codec="utf-8"), max_size=6))
NAMES = st.lists(COMPONENTS, min_size=1, max_size=4).map(tuple)


def test_round_trip_is_stable() -> None:
    once = text()
    assert text(read_export(once)) == once


def test_only_what_is_asked_for() -> None:
    out = io.BytesIO()
    write_export(sample(), out, [("o",)])
    export = read_export(out.getvalue())
    assert list(export.constants) == [("o",)]


@given(NAMES, NAMES)
def test_names(left: Name, right: Name) -> None:
    assert (format_name(left) == format_name(right)) == (left == right)
    if not any(isinstance(part, str) and "»" in part for part in left):
        assert parse_name(format_name(left)) == left


def definition(name: str, value: int, safety: Safety = Safety.SAFE) -> Definition:
    path = (name,)
    return Definition(path, (), 0, value, Hints(HintKind.ABBREV), safety, (path,))


def made(uses: dict[str, list[str]], safety: Safety = Safety.SAFE) -> Export:
    """Definitions of type Prop, each of which mentions others."""
    build = TermsBuilder()
    build.prop()
    declarations: list[Declaration] = []
    for name, used in uses.items():
        value = build.prop()
        for other in used:
            value = build.app(value, build.const(other))
        declarations.append(definition(name, value, safety))
    return Export(build.terms, tuple(declarations))


def ordered(export: Export) -> list[str]:
    order = dependency_order(export, range(len(export.declarations)))
    return [str(export.declarations[position].names()[0][0]) for position in order]


def test_order() -> None:
    assert ordered(made({"c": ["b"], "b": ["a"], "a": []})) == ["a", "b", "c"]
    assert ordered(made({"a": [], "c": [], "b": ["a"]})) == ["a", "c", "b"]


def test_circles() -> None:
    for circle in ({"a": ["b"], "b": ["a"]}, {"a": ["b"], "b": ["c"], "c": ["a"]}):
        with pytest.raises(ExportError, match="circle"):
            ordered(made(circle))
    assert len(ordered(made({"a": ["b"], "b": ["a"]}, Safety.PARTIAL))) == 2
    # That a declaration uses itself is for the kernel to say.
    assert ordered(made({"a": ["a"]})) == ["a"]


def even_and_odd() -> Export:
    """``thm : ∀ n, Ev n → Ev (n + 1)``, and after it the mutual group of ``Ev`` and ``Od``, whose
    constructors contain the same nodes ``Ev n`` and ``Od n``."""
    build = TermsBuilder()
    nat, prop = build.const("Nat"), build.prop()
    family = build.forall("n", nat, prop)
    n, succ = build.bvar(0), build.app(build.const("Nat.succ"), build.bvar(1))
    both: tuple[Name, ...] = (("Ev",), ("Od",))
    holds = {name: build.app(build.const(name), n) for name in both}
    types, constructors = [], []
    for name, other in (both, both[::-1]):
        step = (*name, "step")
        type_ = build.forall(
            "n", nat, build.arrow(holds[other], build.app(build.const(name), succ))
        )
        types.append(InductiveType(name, (), family, 0, 1, both, (step,), 0, True, False, False))
        constructors.append(Constructor(step, (), type_, name, 0, 0, 2, False))
    group = InductiveGroup(tuple(types), tuple(constructors), ())
    type_ = build.forall("n", nat, build.arrow(holds[("Ev",)], build.app(build.const("Ev"), succ)))
    value = build.lam("n", nat, build.lam("h", holds[("Ev",)], n))
    return Export(build.terms, (Theorem(("thm",), (), type_, value, (("thm",),)), group))


def test_a_group_shares_expressions_with_what_uses_it() -> None:
    export = even_and_odd()
    assert dependency_order(export, [0, 1]) == [1, 0]
    assert dependency_order(export, [0]) == [0]
    data = text(export)
    again = read_export(data)
    assert [item.names()[0] for item in again.declarations] == [("Ev",), ("thm",)]
    assert text(again) == data


def test_a_group_and_a_definition_that_use_each_other() -> None:
    export = even_and_odd()
    build = TermsBuilder(export.terms)
    nat = Definition(
        ("Nat",), (), build.prop(), build.const("Ev"), Hints(HintKind.ABBREV), Safety.SAFE, ()
    )
    with pytest.raises(ExportError, match="circle"):
        text(Export(export.terms, (*export.declarations, nat)))


def test_uses_that_are_not_constants_order_too() -> None:
    build = TermsBuilder()
    prop = build.prop()
    users = (
        Axiom(("p",), (), build.proj("Nat", 0, prop)),
        Axiom(("n",), (), build.nat(7)),
        Axiom(("s",), (), build.string("")),
    )
    for user in users:
        export = Export(build.terms, (user, Axiom(("Nat",), (), prop)))
        assert dependency_order(export, [0, 1]) == [1, 0]


@given(st.integers(0, 2**32))
def test_random_graphs(seed: int) -> None:
    source = random.Random(seed)
    names = [f"c{number}" for number in range(source.randint(1, 12))]
    uses = {
        name: source.sample(names[:index], source.randint(0, index))
        for index, name in enumerate(names)
    }
    shuffled = dict(source.sample(list(uses.items()), len(uses)))
    order = ordered(made(shuffled))
    assert sorted(order) == sorted(names)
    for name, used in uses.items():
        assert all(order.index(other) < order.index(name) for other in used)
    assert ordered(made({name: uses[name] for name in order})) == order


def test_digest_sees_every_field() -> None:
    build = TermsBuilder()
    prop, type_ = build.prop(), build.type()
    variants = [
        Definition(("d",), levels, kind, value, hints, safety, all_)
        for levels, kind, value, hints, safety, all_ in itertools.product(
            [(), (("u",),)],
            [prop, type_],
            [prop, type_],
            [Hints(HintKind.ABBREV), Hints(HintKind.REGULAR, 1), Hints(HintKind.REGULAR, 2)],
            [Safety.SAFE, Safety.UNSAFE],
            [(("d",),), (("d",), ("e",))],
        )
    ]
    digests = {digest(Export(build.terms, (variant,)), ("d",)) for variant in variants}
    assert len(digests) == len(variants)


def test_merged_exports_keep_their_declarations() -> None:
    left, right = read_export(text()), made({"a": [], "b": ["a"]})
    both = merged(left, right)
    for source in (left, right):
        for name in source.constants:
            assert digest(both, name) == digest(source, name)
    assert read_export(text(both)).constants.keys() == both.constants.keys()
    with pytest.raises(ExportError, match="a is declared twice"):
        merged(right, right)
