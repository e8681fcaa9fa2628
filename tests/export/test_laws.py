"""Laws of reading, writing, digests, comparison and closures on random exports."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.export.sample import sample, text
from tests.export.strategies import exports, full_model, model

from lemmata.export import (
    BinderInfo,
    Declaration,
    Export,
    ExprComparison,
    ExprKind,
    Name,
    Terms,
    closure,
    declaration_terms,
    digest,
    expr_digest,
    expr_equal,
    first_difference,
    format_expr,
    merged,
    read_export,
    used_constants,
    used_constants_of_expr,
    write_export,
)


def content(export: Export) -> list[tuple[object, ...]]:
    """Declarations with their terms as trees instead of indices."""
    return [
        (
            declaration.names(),
            type(declaration),
            tuple(full_model(export.terms, term) for term in declaration_terms(declaration)),
            *(
                getattr(declaration, field, None)
                for field in ("level_params", "all", "hints", "safety", "is_unsafe")
            ),
        )
        for declaration in export.declarations
    ]


@given(exports())
def test_writing_and_reading_keeps_everything(export: Export) -> None:
    data = text(export)
    again = read_export(data)
    assert content(again) == content(export)
    assert text(again) == data


@given(exports())
def test_the_index_may_come_first(export: Export) -> None:
    data = text(export)
    rows = [json.loads(line) for line in data.decode().split("\n")[:-1]]
    turned = [
        {key: row[key] for key in sorted(row, key=lambda key: key not in ("ie", "in", "il"))}
        for row in rows
    ]
    lines = (json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in turned)
    assert text(read_export("".join(lines).encode())) == data


def respelled(value: object, source: random.Random) -> str:
    """Another JSON text of the same value: any key order, blanks, escapes."""
    blank = source.choice(["", " ", "\t "])
    if isinstance(value, dict):
        items = list(value.items())
        source.shuffle(items)
        pairs = (f"{json.dumps(key)}{blank}:{respelled(item, source)}" for key, item in items)
        return "{" + blank + f",{blank}".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + f"{blank},".join(respelled(item, source) for item in value) + blank + "]"
    return json.dumps(value)


@given(exports(), st.randoms(use_true_random=False))
def test_the_fast_way_and_the_careful_way_agree(export: Export, source: random.Random) -> None:
    data = text(export)
    other = "".join(
        respelled(json.loads(line), source) + "\n" for line in data.decode().split("\n")[:-1]
    )
    assert text(read_export(other.encode())) == data


@given(exports(), st.randoms(use_true_random=False))
def test_index_numbers_mean_nothing(export: Export, source: random.Random) -> None:
    """Sparse, unordered indices of every space read as the same export."""
    data = text(export)
    maps: dict[str, dict[int, int]] = {}
    for space in ("in", "il", "ie"):
        numbers = [
            json.loads(line)[space]
            for line in data.decode().split("\n")[:-1]
            if space in json.loads(line)
        ]
        fresh = source.sample(range(1, 10**6), len(numbers))
        maps[space] = dict(zip(numbers, fresh, strict=True)) | ({} if space == "ie" else {0: 0})
    rows = [
        json.dumps(renumbered(json.loads(line), maps), sort_keys=True, separators=(",", ":"))
        for line in data.decode().split("\n")[:-1]
    ]
    assert text(read_export("".join(row + "\n" for row in rows).encode())) == data


NAME_FIELDS = {"pre", "param", "name", "typeName", "levelParams", "all"}
LEVEL_FIELDS = {"succ", "max", "imax", "sort", "us"}
EXPR_FIELDS = {"fn", "arg", "type", "body", "value", "struct"}


def renumbered(value: object, maps: dict[str, dict[int, int]], field: str = "") -> object:
    if isinstance(value, dict):
        if field in ("exporter", "lean", "format"):
            return value
        return {key: renumbered(item, maps, key) for key, item in value.items()}
    if isinstance(value, list):
        return [renumbered(item, maps, field) for item in value]
    if type(value) is not int:
        return value
    for space, fields in (("in", NAME_FIELDS), ("il", LEVEL_FIELDS), ("ie", EXPR_FIELDS)):
        if field == space or field in fields:
            return maps[space][value]
    return value


@given(exports())
def test_equality_and_digests_agree_with_plain_trees(export: Export) -> None:
    terms = export.terms
    again = read_export(text(export)).terms
    comparison = ExprComparison(terms, again)
    trees = [model(again, right) for right in range(len(again))]
    for left in range(len(terms)):
        tree = model(terms, left)
        for right, other in enumerate(trees):
            same = tree == other
            assert comparison.equal(left, right) == same
            assert expr_equal(terms, left, again, right) == same
            assert (expr_digest(terms, left) == expr_digest(again, right)) == same


@given(exports())
def test_a_difference_is_where_the_path_leads(export: Export) -> None:
    terms = export.terms
    for left in range(len(terms)):
        for right in range(len(terms)):
            difference = first_difference(terms, left, terms, right)
            if difference is None:
                continue
            x, y = left, right
            for step in difference.path:
                x, y = stepped(terms, x, step), stepped(terms, y, step)
            assert (x, y) == (difference.left, difference.right)
            own, other = model(terms, x), model(terms, y)
            children = len(terms.children(x))
            assert own[: len(own) - children] != other[: len(other) - len(terms.children(y))]


def stepped(terms: Terms, index: int, step: str) -> int:
    match step, terms.kind(index):
        case "fn", ExprKind.APP:
            return terms.app_fn(index)
        case "arg", ExprKind.APP:
            return terms.app_arg(index)
        case "type", ExprKind.LAM | ExprKind.FORALL | ExprKind.LET:
            return terms.binder_type(index)
        case "body", ExprKind.LAM | ExprKind.FORALL:
            return terms.binder_body(index)
        case "value", ExprKind.LET:
            return terms.let_value(index)
        case "body", ExprKind.LET:
            return terms.let_body(index)
        case "struct", ExprKind.PROJ:
            return terms.proj_struct(index)
        case _:
            raise AssertionError(f"no step {step} here")


@given(exports(), st.integers(0, 60))
def test_printing_is_bounded(export: Export, limit: int) -> None:
    for index in range(len(export.terms)):
        shown = format_expr(export.terms, index, limit)
        assert len(shown) <= max(limit, 1)
        assert "\n" not in shown
        whole = format_expr(export.terms, index, 10**6)
        assert shown == whole or (shown[-1] == "…" and whole.startswith(shown[:-1]))


@given(exports())
def test_used_constants_are_those_of_the_tree(export: Export) -> None:
    def constants(tree: tuple[object, ...]) -> set[object]:
        found: set[object] = set()
        match tree[0]:
            case "CONST" | "PROJ":
                found.add(tree[1])
            case "NAT":
                found.add(("Nat",))
            case "STRING":
                found |= {("String",), ("String", "ofList"), ("Char",), ("Char", "ofNat")}
                found |= {("List",), ("List", "nil"), ("List", "cons"), ("Nat",)}
            case _:
                pass
        for part in tree[1:]:
            if isinstance(part, tuple) and part and part[0] in ExprKind.__members__:
                found |= constants(part)
        return found

    for index in range(len(export.terms)):
        assert used_constants_of_expr(export.terms, index) == constants(model(export.terms, index))


@given(exports())
def test_closure_is_what_repeated_use_reaches(export: Export) -> None:
    roots: list[Name] = [export.declarations[0].names()[0], ("nowhere",)]
    reached, pending = set[Name](), list(roots)
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            if name in export.positions:
                pending += used_constants(export, export.declaration(name))
    found = closure(export, roots)
    assert found.declared == {name for name in reached if name in export.positions}
    assert found.external == reached - found.declared


@given(exports())
@settings(max_examples=30)
def test_digests_ignore_order_and_binders(export: Export) -> None:
    plain = merged(export, Export(Terms(), ()))
    for node in range(len(plain.terms)):
        if plain.terms.kind(node) in (ExprKind.LAM, ExprKind.FORALL):
            plain.terms.c[node] = BinderInfo.INST_IMPLICIT
            plain.terms.d[node] = plain.terms.add_name(("another",))
    backwards: tuple[Declaration, ...] = plain.declarations[::-1]
    changed = Export(plain.terms, backwards)
    for name in export.constants:
        assert digest(changed, name) == digest(export, name)


@given(exports())
@settings(max_examples=30)
def test_meta_survives(export: Export) -> None:
    meta = replace(export.meta, exporter_name='é"\n', lean_version="4.28.0", lean_githash="\t\\")
    assert read_export(text(replace(export, meta=meta))).meta == meta


def test_a_subset_needs_only_its_own_terms() -> None:
    export = sample()
    for name in export.constants:
        out = io.BytesIO()
        write_export(export, out, [name])
        small = read_export(out.getvalue())
        assert set(small.constants) == set(export.declaration(name).names())
        assert digest(small, name) == digest(export, name)
        roots = [term for item in small.declarations for term in declaration_terms(item)]
        assert len(set(small.terms.reachable(roots))) == len(small.terms)
