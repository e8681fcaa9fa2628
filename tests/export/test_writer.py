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
    Declaration,
    Definition,
    Export,
    HintKind,
    Hints,
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


def test_a_group_shares_expressions_with_what_uses_it() -> None:
    """``Ev n`` occurs in the constructors of ``Ev`` and in a theorem's type as one node."""
    export = sample()
    build = TermsBuilder(export.terms)
    shared = export.constants[("My", "Unit", "star")].type
    theorem = Theorem(("z",), (), build.forall("x", shared, shared), shared, (("z",),))
    both = Export(export.terms, (theorem, *export.declarations))
    names = [both.declarations[position].names()[0] for position in dependency_order(both, [0, 1])]
    assert names == [("My", "Unit"), ("z",)]


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


def test_many_declarations_that_share_a_big_term() -> None:
    """Linear, not quadratic: this would take minutes."""
    build = TermsBuilder()
    big = build.prop()
    for number in range(30_000):
        big = build.terms.add_app(big, build.const(f"k{number % 50}"))
    declarations = tuple(
        Theorem((f"t{number}",), (), build.prop(), big, ((f"t{number}",),))
        for number in range(3_000)
    )
    written = text(Export(build.terms, declarations))
    assert len(read_export(written).declarations) == 3_000


def test_merged_exports_keep_their_declarations() -> None:
    left, right = read_export(text()), made({"a": [], "b": ["a"]})
    both = merged(left, right)
    for source in (left, right):
        for name in source.constants:
            assert digest(both, name) == digest(source, name)
    assert read_export(text(both)).constants.keys() == both.constants.keys()
    with pytest.raises(ExportError, match="a is declared twice"):
        merged(right, right)
