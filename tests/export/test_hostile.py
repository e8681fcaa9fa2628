"""Files made to cost much, to fail oddly, or to mean two things."""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.export.sample import text
from tests.export.strategies import declared_often

from lemmata.errors import ExportError
from lemmata.export import (
    Definition,
    Export,
    ExprComparison,
    Terms,
    closure,
    declaration_terms,
    digest,
    format_expr,
    read_export,
    shortest_chain,
    write_export,
)

META = text(Export(Terms(), ())).decode()
SECONDS = 10


def test_brackets_after_a_string_that_does_not_end() -> None:
    """Every escaped quote looks like the start of another string: quadratic if each is tried."""
    row = b'"' + b'\\"' * 2_000_000 + b"[" * 20
    started = time.monotonic()
    with pytest.raises(ExportError, match=r"^line 2: .*Unterminated string"):
        read_export(META.encode() + row + b"\n")
    assert time.monotonic() - started < SECONDS


def test_many_declarations_over_one_big_term() -> None:
    """3,000 terms, each of which contains one term of 30,000 nodes: every step is linear in the
    nodes, not in the nodes of each declaration (which would take minutes)."""
    export = declared_often(3_000, 30_000)
    started = time.monotonic()
    data = text(export)
    left, right = read_export(data), read_export(data)
    first, last = ("d0",), ("d2999",)
    assert closure(left, [last]).declared == set(left.constants)
    chain = shortest_chain(left, last, first)
    assert chain is not None and len(chain) == 3_000
    comparison = ExprComparison(left.terms, right.terms)
    for mine, other in zip(left.declarations, right.declarations, strict=True):
        for i, j in zip(declaration_terms(mine), declaration_terms(other), strict=True):
            assert comparison.equal(i, j)
    assert len({digest(left, name) for name in left.constants}) == 3_000
    for declaration in left.declarations:
        assert isinstance(declaration, Definition)
        assert format_expr(left.terms, declaration.value).endswith("…")
    assert time.monotonic() - started < SECONDS


def test_a_term_that_is_exponential_as_a_tree() -> None:
    rows = ['{"ie":0,"sort":0}\n']
    rows += [f'{{"app":{{"arg":{i},"fn":{i}}},"ie":{i + 1}}}\n' for i in range(1_000)]
    rows.append('{"in":1,"str":{"pre":0,"str":"a"}}\n')
    rows.append('{"axiom":{"isUnsafe":false,"levelParams":[],"name":1,"type":1000}}\n')
    started = time.monotonic()
    left, right = (read_export((META + "".join(rows)).encode()) for _ in range(2))
    assert text(left) == text(right)
    assert digest(left, ("a",)) == digest(right, ("a",))
    assert ExprComparison(left.terms, right.terms).equal(1000, 1000)
    assert not ExprComparison(left.terms, right.terms).equal(1000, 999)
    assert time.monotonic() - started < SECONDS


def test_names_of_many_numbers() -> None:
    """Ten of them are nothing, ten thousand are an attempt on Python's hash of numbers."""

    def names(count: int) -> bytes:
        rows = [f'{{"in":{i},"num":{{"i":0,"pre":{i - 1}}}}}\n' for i in range(1, 9)]
        rows += [f'{{"in":{9 + i},"num":{{"i":{i},"pre":8}}}}\n' for i in range(count)]
        return (META + "".join(rows)).encode()

    assert read_export(names(10_000)).terms.names[-1] == (*[0] * 8, 9_999)
    with pytest.raises(ExportError, match=r"^line 10010: more than 10000 names"):
        read_export(names(10_001))


def test_names_that_nobody_can_show() -> None:
    rows = [f'{{"in":{i},"str":{{"pre":{i - 1},"str":"{"x" * 4000}"}}}}\n' for i in (1, 2, 3)]
    assert read_export((META + "".join(rows[:2])).encode()).terms.names[-1]
    with pytest.raises(ExportError, match=r"^line 4: name 3 has more than 10000 characters"):
        read_export((META + "".join(rows)).encode())


WRONG: list[object] = [
    None, True, False, -1, 1.5, 10**9, 10**30, "", "odd", "-1", [], [[]], [0, 0], [10**9], {},
    {"regular": -1}, {"regular": True}, {"x": 0},
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place inside a JSON value that holds another value."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def sample_rows() -> list[str]:
    return text().decode().split("\n")[:-1]


def one_of_each_kind(rows: list[str]) -> list[int]:
    """The first line of every kind (every set of keys)."""
    first: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows):
        first.setdefault(tuple(json.loads(row)), number)
    return list(first.values())


def well(data: bytes, line: int) -> bool:
    """Whether the file is read. Raises unless a fault is an `ExportError` on this line or later,
    and unless what is read survives being written and read again."""
    try:
        export = read_export(data)
    except ExportError as error:
        assert error.line >= line, error
        return False
    try:
        again = text(export)
    except ExportError as error:
        assert "circle" in str(error)
        return True
    assert text(read_export(again)) == again
    return True


def test_every_value_replaced_by_every_kind_of_value() -> None:
    """Each place of each line of the sample: faults are found on their line, or later when the
    line is well-formed by itself."""
    rows = sample_rows()
    refused = accepted = 0
    for number in one_of_each_kind(rows):
        count = len(list(places(json.loads(rows[number]))))
        for place in range(count):
            for wrong in WRONG:
                value = json.loads(rows[number])
                holder, key = list(places(value))[place]
                if type(holder[key]) is type(wrong) and holder[key] == wrong:
                    continue
                holder[key] = wrong
                changed = [*rows[:number], json.dumps(value), *rows[number + 1 :]]
                if well("".join(line + "\n" for line in changed).encode(), number + 1):
                    accepted += 1
                else:
                    refused += 1
    assert refused > 10 * accepted


def test_keys_taken_added_and_doubled() -> None:
    """No key may lack, be unknown or come twice, at any depth; always on the line at fault."""
    rows = sample_rows()
    checked = 0
    for number in one_of_each_kind(rows):
        row = rows[number]
        objects = [
            at for at, character in enumerate(row) if character == "{" and row[at + 1] == '"'
        ]
        changed = []
        for at in objects:
            first_key = row[at + 2 : row.index('"', at + 2)]
            changed.append(row[: at + 1] + f'"{first_key}":0,' + row[at + 1 :])
            changed.append(row[: at + 1] + '"unknown":0,' + row[at + 1 :])
        for place in range(len(list(places(json.loads(row))))):
            value = json.loads(row)
            holder, key = list(places(value))[place]
            # Exporters before 3.1 left out this one, and the reader allows it.
            if isinstance(holder, dict) and not (key == "isUnsafe" and "opaque" in value):
                del holder[key]
                changed.append(json.dumps(value))
        for other in changed:
            data = "".join(line + "\n" for line in [*rows[:number], other, *rows[number + 1 :]])
            with pytest.raises(ExportError) as caught:
                read_export(data.encode())
            assert caught.value.line == number + 1, other
            checked += 1
    assert checked > 200


def test_thousand_mutants_of_structure() -> None:
    """Values moved from one place to another, anywhere in the file, several at a time."""
    source = random.Random(4)
    rows = [json.loads(row) for row in sample_rows()]
    read = 0
    for _ in range(1_500):
        mutated = json.loads(json.dumps(rows))
        everywhere = [(*place, n) for n, row in enumerate(mutated) for place in places(row)]
        first = len(rows)
        for _ in range(source.randint(1, 3)):
            holder, key, number = source.choice(everywhere)
            giver, taken, _ = source.choice(everywhere)
            value = giver[taken]
            if type(value) is int and source.random() < 0.5:
                value = max(0, value + source.choice([-1, 1]))
            try:
                holder[key] = json.loads(json.dumps(value))
            except ValueError:
                continue  # a value that now contains itself
            first = min(first, number)
        lines = "".join(json.dumps(row) + "\n" for row in mutated)
        read += well(lines.encode(), first + 1)
    assert 50 < read < 1_450


def test_writing_a_subset_of_hostile_declarations() -> None:
    export = declared_often(50, 1_000)
    out = io.BytesIO()
    write_export(export, out, [("d7",)])
    assert set(read_export(out.getvalue()).constants) == {("d7",)}
