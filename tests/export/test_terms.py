"""Names, literals, the builder, the printer, chains, depth and hostile sizes."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.sample import sample, text
from tests.export.strategies import NAMES, full_model

from lemmata.errors import ExportError
from lemmata.export import (
    QUOT_NAMES,
    Axiom,
    BinderInfo,
    Declaration,
    Difference,
    Export,
    Name,
    Quotient,
    QuotKind,
    ReadLimits,
    Terms,
    TermsBuilder,
    Theorem,
    closure,
    digest,
    expr_digest,
    expr_equal,
    first_difference,
    format_expr,
    format_level,
    format_name,
    linked_constants,
    name_key,
    parse_name,
    read_export,
    shortest_chain,
    used_constants,
    used_constants_of_expr,
    write_export,
)
from lemmata.export.numerals import nat_from_decimal, nat_to_decimal

META = text(Export(Terms(), ())).decode()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ((), "[anonymous]"),
        (("Nat", "add_comm'"), "Nat.add_comm'"),
        (("a", 1, "b.c"), "a.1.«b.c»"),
        (("1",), "«1»"),
        ((1,), "1"),
        (("",), "«»"),
        (("x y", "λ", "α₁"), "«x y».«λ».α₁"),
        (("é", "ℕ", "ᵢ"), "é.ℕ.«ᵢ»"),
        (("[anonymous]",), "«[anonymous]»"),
        (("_@", "if"), "«_@».if"),
        (("b»c",), '"b\\u00bbc"'),
        (("a\nb",), '"a\\nb"'),
        (("\x00\x1f\x7f",), '"\\u0000\\u001f\\u007f"'),
        (('"a"',), '«"a"»'),
        (("a\u202eb",), '"a\\u202eb"'),
    ],
)
def test_names_as_text(name: Name, shown: str) -> None:
    assert format_name(name) == shown
    assert parse_name(shown) == name


@given(NAMES)
def test_every_name_reads_back(name: Name) -> None:
    assert parse_name(format_name(name)) == name


@pytest.mark.parametrize(
    "bad",
    [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "01",
        "-1",
        "«a",
        "a»",
        "a.«b»c",
        '"a',
        '"\\q"',
        "a\n",
        "λ",
    ],
)
def test_texts_that_are_no_names(bad: str) -> None:
    with pytest.raises(ExportError, match="is not a Lean name"):
        parse_name(bad)


@given(st.text())
def test_parsing_never_fails_otherwise(anything: str) -> None:
    try:
        name = parse_name(anything)
    except ExportError:
        return
    assert parse_name(format_name(name)) == name


def test_superfluous_guillemets() -> None:
    assert parse_name("«a».«b c»") == ("a", "b c")


@given(NAMES, NAMES)
def test_the_order_of_names_is_total(left: Name, right: Name) -> None:
    assert (name_key(left) == name_key(right)) == (left == right)
    assert name_key(()) < name_key(left)


@given(st.one_of(st.integers(0, 10**9), st.integers(0, 10**9000)), st.integers(0, 9000))
def test_numerals(number: int, shift: int) -> None:
    value = number << shift
    shown = nat_to_decimal(value)
    assert nat_from_decimal(shown) == value
    assert shown == "0" or shown[0] != "0"


def test_nodes_are_small() -> None:
    terms = Terms()
    last = terms.add_sort(0)
    for _ in range(100_000):
        last = terms.add_app(last, last)
    columns = (terms.kinds, terms.a, terms.b, terms.c, terms.d, terms.loose)
    assert sum(column.itemsize for column in columns) == 21
    held = sum(column.buffer_info()[1] * column.itemsize for column in columns)
    assert held / len(terms) < 40


def test_adding_checks_its_arguments() -> None:
    terms = Terms()
    node = terms.add_sort(0)
    wrong_calls: tuple[Callable[[], int], ...] = (
        lambda: terms.add_app(node, 7),
        lambda: terms.add_app(-1, node),
        lambda: terms.add_sort(3),
        lambda: terms.add_bvar(-1),
        lambda: terms.add_bvar(2**31),
        lambda: terms.add_nat(-1),
        lambda: terms.add_string("\ud800"),
        lambda: terms.add_name(("\ud800",)),
        lambda: terms.add_name((True,)),
        lambda: terms.add_name((-1,)),
        lambda: terms.add_proj(("a",), -1, node),
    )
    for wrong in wrong_calls:
        with pytest.raises(ExportError):
            wrong()
    assert len(terms) == 1


def test_printing() -> None:
    build = TermsBuilder()
    nat, add = build.const("Nat"), build.const("HAdd", [build.level(1), build.level_param("u")])
    inner = build.app(add, build.bvar(0), build.app(build.bvar(1), build.nat(3)))
    term = build.lam("x", nat, build.forall("x", nat, inner, BinderInfo.IMPLICIT))
    assert format_expr(build.terms, term) == (
        "fun (x : Nat) => ∀ {x_1 : Nat}, HAdd.{1, u} x_1 (x 3)"
    )
    assert format_expr(build.terms, inner) == "HAdd.{1, u} #0 (#1 3)"
    assert format_expr(build.terms, term, 10) == "fun (x : …"
    projection = build.proj("Prod", 1, build.app(nat, build.type(1)))
    assert format_expr(build.terms, projection) == "(Nat (Sort 2)).2[Prod]"
    let = build.let("y", build.prop(), build.string("a\n"), build.bvar(0))
    assert format_expr(build.terms, let) == 'let y : Prop := "a\\u{a}"; y'
    u, v = build.level_param("u"), build.level_param("v")
    level = build.level_succ(build.level_max(u, build.level_imax(build.level_succ(v), 0)))
    assert format_level(build.terms, level) == "(max u (imax v+1 0))+1"


def test_first_difference() -> None:
    build, other = TermsBuilder(), TermsBuilder()
    left = build.lam("x", build.const("Nat"), build.app(build.const("f"), build.const("a")))
    right = other.lam("y", other.const("Nat"), other.app(other.const("f"), other.const("b")))
    difference = first_difference(build.terms, left, other.terms, right)
    assert difference == Difference(("body", "arg"), build.const("a"), other.const("b"))
    assert expr_equal(build.terms, build.const("f"), other.terms, other.const("f"))


def test_levels_compare_by_structure() -> None:
    build, other = TermsBuilder(), TermsBuilder()
    other.level(9)
    for terms in (build, other):
        u, v = terms.level_param("u"), terms.level_param("v")
        terms.sort(terms.level_max(u, v))
        terms.sort(terms.level_max(v, u))
        terms.sort(terms.level_imax(u, v))
        terms.sort(terms.level_max(u, u))
    for i in range(4):
        for j in range(4):
            assert expr_equal(build.terms, i, other.terms, j) == (i == j)


def axioms(**uses: str) -> Export:
    """Theorems, each of which mentions others (names separated by blanks)."""
    build = TermsBuilder()
    made: list[Declaration] = []
    for name, used in uses.items():
        value = build.prop()
        for other in used.split():
            value = build.app(value, build.const(other))
        made.append(Theorem((name,), (), build.prop(), value, ((name,),)))
    return Export(build.terms, tuple(made))


def test_shortest_chain() -> None:
    export = axioms(d="bad", c="d", b="c", a="b e", e="d", z="z")
    assert shortest_chain(export, ("a",), ("bad",)) == (("a",), ("e",), ("d",), ("bad",))
    assert shortest_chain(export, ("a",), ("a",)) == (("a",),)
    assert shortest_chain(export, ("z",), ("bad",)) is None
    assert shortest_chain(export, ("unknown",), ("bad",)) is None


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_a_chain_uses_each_next_and_none_is_shorter(edges: list[tuple[int, int]]) -> None:
    uses = {f"n{i}": " ".join(f"n{y}" for x, y in edges if x == i) for i in range(8)}
    export = axioms(**uses)
    distance: dict[Name, int] = {("n0",): 0}
    frontier: list[Name] = [("n0",)]
    while frontier:
        frontier = [
            used
            for name in frontier
            for used in used_constants(export, export.constants[name])
            if distance.setdefault(used, distance[name] + 1) == distance[name] + 1
        ]
        frontier = list(dict.fromkeys(frontier))
    for number in range(8):
        chain = shortest_chain(export, ("n0",), (f"n{number}",))
        if chain is None:
            assert (f"n{number}",) not in distance
            continue
        assert len(chain) == distance[(f"n{number}",)] + 1
        for name, following in pairwise(chain):
            assert following in used_constants(export, export.constants[name])


def test_links_that_are_not_terms() -> None:
    export = sample()
    unit, star, rec = ("My", "Unit"), ("My", "Unit", "star"), ("My", "Unit", "rec")
    assert star in used_constants(export, export.constants[unit])
    assert linked_constants(export.constants[star]) == {unit}
    assert {unit, star} <= used_constants(export, export.constants[rec])
    assert ("S",) in used_constants(export, export.constants[("o",)])
    assert ("Nat",) in used_constants(export, export.constants[("d",)])
    found = closure(export, [("t",)])
    assert {("d",), ("t",)} <= found.declared and ("String", "ofList") in found.external
    assert export.declarations[found.positions[0]].names() == (("d",),)


def quotients(*kinds: QuotKind) -> Export:
    build = TermsBuilder()
    made = [Quotient(QUOT_NAMES[kind], (), build.prop(), kind) for kind in kinds]
    return Export(build.terms, tuple(made))


def test_quotients_come_together_and_in_order() -> None:
    data = text(quotients(*QuotKind))
    assert len(read_export(data).declarations) == 4
    out = io.BytesIO()
    write_export(read_export(data), out, [("Quot", "lift")])
    assert out.getvalue() == data
    for faulty in (
        (QuotKind.TYPE,),
        (QuotKind.TYPE, QuotKind.CTOR, QuotKind.LIFT),
        (QuotKind.CTOR,),
        (QuotKind.TYPE, QuotKind.LIFT),
        tuple(reversed(QuotKind)),
        (QuotKind.TYPE, QuotKind.LIFT, QuotKind.CTOR, QuotKind.IND),
    ):
        with pytest.raises(ExportError, match=r"^line \d+: the quotient declarations"):
            read_export(text(quotients(*faulty)))
    with pytest.raises(ExportError, match="must be named Quot"):
        read_export(data.replace(b'"str":"Quot"', b'"str":"Quit"'))


def test_every_universe_parameter_has_its_level() -> None:
    build = TermsBuilder()
    params: tuple[Name, ...] = (("u",), ("v",))
    data = text(Export(build.terms, (Axiom(("a",), params, build.prop()),)))
    assert data.count(b'"param":') == 2


def test_metadata_is_stripped() -> None:
    rows = (
        '{"in":1,"str":{"pre":0,"str":"a"}}',
        '{"ie":0,"sort":0}',
        '{"ie":1,"mdata":{"data":{"k":"v"},"expr":0}}',
        '{"app":{"arg":0,"fn":1},"ie":2}',
        '{"ie":3,"mdata":{"data":{},"expr":2}}',
        '{"axiom":{"isUnsafe":false,"levelParams":[],"name":1,"type":3}}',
    )
    export = read_export((META + "".join(row + "\n" for row in rows)).encode())
    type_ = export.constants[("a",)].type
    assert format_expr(export.terms, type_) == "Prop Prop"
    assert len(export.terms) == 2


def test_lines_may_cross_the_reader_s_chunks() -> None:
    long = "é" * 1_300_000
    rows = (
        '{"in":1,"str":{"pre":0,"str":"a"}}',
        f'{{"ie":0,"strVal":"{long}"}}',
        '{"ie":1,"sort":9}',
    )
    data = (META + "".join(row + "\n" for row in rows)).encode()
    with pytest.raises(ExportError, match=r"^line 4: .*level 9"):
        read_export(data)
    with pytest.raises(ExportError, match=r"^line 3: .*longer than"):
        read_export(data, ReadLimits(max_line_bytes=1000))


def test_sizes_of_names() -> None:
    rows = "".join(f'{{"in":{i},"num":{{"i":0,"pre":{i - 1}}}}}\n' for i in range(1, 200))
    data = (META + rows).encode()
    assert read_export(data).terms.names[-1] == (0,) * 199
    with pytest.raises(ExportError, match=r"line 12: .*more than 10 components"):
        read_export(data, ReadLimits(max_name_depth=10))
    with pytest.raises(ExportError, match=r"line 6: .*more than 10 components"):
        read_export(data, ReadLimits(max_name_components=10))
    with pytest.raises(ExportError, match="above the limit"):
        read_export((META + '{"in":1,"num":{"i":4294967296,"pre":0}}\n').encode())


def test_literals_that_would_collide_as_numbers() -> None:
    """Python hashes integers modulo 2^61 - 1; a table keyed by them would be quadratic here."""
    prime = 2**61 - 1
    rows = "".join(f'{{"ie":{i},"natVal":"{(i + 1) * prime}"}}\n' for i in range(60_000))
    started = time.monotonic()
    assert read_export((META + rows).encode()).terms.nat_value(59_999) == 60_000 * prime
    assert time.monotonic() - started < 10


def test_a_deep_term_in_every_function() -> None:
    depth = 200_000
    build = TermsBuilder()
    node, value = build.const("Nat"), build.prop()
    for number in range(depth):
        match number % 4:
            case 0:
                value = build.terms.add_app(value, node)
            case 1:
                value = build.terms.add_lam(("x",), node, value)
            case 2:
                value = build.terms.add_let(("x",), node, node, value)
            case _:
                value = build.terms.add_proj(("S",), 0, value)
    level = build.level(20_000)
    export = Export(
        build.terms,
        (
            Theorem(("deep",), (), build.sort(level), value, (("deep",),)),
            Axiom(("chain",), (), deep_projection(build.terms, 20_000)),
        ),
    )
    data = text(export)
    again = read_export(data)
    assert text(again) == data
    assert digest(again, ("deep",)) == digest(export, ("deep",))
    root = again.constants[("deep",)]
    assert isinstance(root, Theorem)
    assert expr_equal(build.terms, value, again.terms, root.value)
    assert closure(again, [("deep",)]).external == {("Nat",), ("S",)}
    assert used_constants_of_expr(again.terms, root.value) == {("Nat",), ("S",)}
    assert format_expr(again.terms, root.value).endswith("…")
    assert len(format_expr(again.terms, root.type)) < 50
    assert format_expr(again.terms, again.constants[("chain",)].type, 80).endswith("…")
    changed = build.terms.add_app(value, build.prop())
    assert expr_digest(build.terms, changed) != expr_digest(build.terms, value)
    wrapped, other = (
        deep_application(build.terms, 20_000, leaf) for leaf in (build.prop(), build.type())
    )
    difference = first_difference(build.terms, wrapped, build.terms, other)
    assert difference is not None and difference.path == ("fn",) * 20_000


def deep_projection(terms: Terms, depth: int) -> int:
    node = terms.add_const(("s",))
    for _ in range(depth):
        node = terms.add_proj(("S",), 0, node)
    return node


def deep_application(terms: Terms, depth: int, leaf: int) -> int:
    node = leaf
    arg = terms.add_const(("a",))
    for _ in range(depth):
        node = terms.add_app(node, arg)
    return node


def one_field_apart() -> tuple[TermsBuilder, list[int], list[int]]:
    """Closed expressions that differ from each other, the first ones in more than a binder's name
    or kind, in one field each."""
    build = TermsBuilder()
    prop, a, b = build.prop(), build.const("a"), build.const("b")
    u, v = build.level_param("u"), build.level_param("v")
    different = [
        prop,
        build.type(),
        *(build.sort(level) for level in (u, v, build.level_max(u, v), build.level_imax(u, v))),
        a,
        b,
        build.const("a", [u]),
        build.const("a", [v]),
        build.const("a", [u, v]),
        build.app(a, b),
        build.app(b, a),
        build.app(a, a),
        build.nat(0),
        build.nat(1),
        build.string("0"),
        build.string("1"),
        build.string(""),
        build.proj("S", 0, a),
        build.proj("S", 1, a),
        build.proj("T", 0, a),
        build.proj("S", 0, b),
        build.lam("x", prop, a),
        build.lam("x", prop, b),
        build.lam("x", a, a),
        build.lam("x", prop, build.bvar(0)),
        build.lam("x", prop, build.lam("x", prop, build.bvar(1))),
        build.lam("x", prop, build.lam("x", prop, build.bvar(0))),
        build.forall("x", prop, a),
        build.forall("x", prop, b),
        build.let("x", prop, a, a),
        build.let("x", prop, a, b),
        build.let("x", prop, b, a),
        build.let("x", a, a, a),
    ]
    renamed = [
        build.lam("y", prop, a),
        build.lam("x", prop, a, BinderInfo.IMPLICIT),
        build.lam("x", prop, a, BinderInfo.STRICT_IMPLICIT),
        build.lam("x", prop, a, BinderInfo.INST_IMPLICIT),
        build.forall("y", prop, a),
        build.forall("x", prop, a, BinderInfo.IMPLICIT),
        build.let("y", prop, a, a),
    ]
    return build, different, renamed


def test_every_field_counts() -> None:
    build, different, renamed = one_field_apart()
    terms = build.terms
    for i in different:
        for j in different:
            assert expr_equal(terms, i, terms, j) == (i == j)
            assert (expr_digest(terms, i) == expr_digest(terms, j)) == (i == j)
    for i in renamed:
        assert sum(expr_equal(terms, i, terms, j) for j in different) == 1
        assert sum(expr_digest(terms, i) == expr_digest(terms, j) for j in different) == 1


def test_the_writer_keeps_every_field_apart() -> None:
    build, different, renamed = one_field_apart()
    made = tuple(
        Axiom(("x", number), (), term) for number, term in enumerate((*different, *renamed))
    )
    again = read_export(text(Export(build.terms, made)))
    read = [item.type for item in again.declarations if isinstance(item, Axiom)]
    assert len(set(read)) == len(made)
    for item, index in zip(made, read, strict=True):
        assert full_model(again.terms, index) == full_model(build.terms, item.type)
