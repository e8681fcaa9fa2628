"""The strict reader: every fault is an ExportError with its line, and nothing else ever happens."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.sample import sample, text

from lemmata.errors import ExportError
from lemmata.export import Export, ReadLimits, Theorem, digest, read_export

META = (
    '{"meta":{"exporter":{"name":"x","version":"1"},"format":{"version":"3.1.0"},'
    '"lean":{"githash":"","version":""}}}'
)
A = '{"in":1,"str":{"pre":0,"str":"a"}}'
PROP = '{"ie":0,"sort":0}'
AXIOM = '{"axiom":{"isUnsafe":false,"levelParams":[],"name":1,"type":0}}'
DEF = (
    '{"def":{"all":[1],"hints":"abbrev","levelParams":[],"name":1,"safety":"safe","type":0,'
    '"value":1}}'
)
QUOT = '{"quot":{"kind":"type","levelParams":[],"name":1,"type":0}}'


def lines(*more: str) -> bytes:
    return "".join(line + "\n" for line in (META, *more)).encode()


def fault(data: bytes, limits: ReadLimits | None = None) -> ExportError:
    with pytest.raises(ExportError) as caught:
        read_export(data, limits)
    assert "\n" not in str(caught.value)
    return caught.value


def test_smallest() -> None:
    export = read_export(lines(A, PROP, AXIOM))
    assert list(export.constants) == [("a",)]
    assert export.line(("a",)) == 4


def test_sample_reads_back() -> None:
    original, export = sample(), read_export(text())
    assert set(export.constants) == set(original.constants)
    for name in export.constants:
        assert digest(export, name) == digest(original, name)


@pytest.mark.parametrize(
    "extra",
    [
        ('{"il":2,"succ":0}', '{"il":1,"succ":2}'),
        ('{"in":70,"str":{"pre":0,"str":"far"}}',),
        ('{"str":{"str":"b","pre":0},"in":2}',),
    ],
    ids=["levels out of order", "sparse names", "any key order"],
)
def test_legal_oddities(extra: tuple[str, ...]) -> None:
    assert read_export(lines(A, PROP, *extra, AXIOM)).declarations


FAULTS = {
    "no meta": (b"", 1),
    "meta missing": ((A + "\n").encode(), 1),
    "other version": (lines().replace(b"3.1.0", b"3.0.0"), 1),
    "no final newline": (lines(A)[:-1], 2),
    "blank line": (lines(A, ""), 3),
    "not JSON": (lines("{"), 2),
    "trailing garbage": (lines(A + " x"), 2),
    "an array": (lines("[]"), 2),
    "unknown key": (lines('{"in":1,"str":{"pre":0,"str":"a"},"x":0}'), 2),
    "unknown inner key": (lines('{"in":1,"str":{"pre":0,"str":"a","x":0}}'), 2),
    "missing key": (lines('{"in":1,"str":{"pre":0}}'), 2),
    "duplicate key": (lines('{"in":1,"in":1,"str":{"pre":0,"str":"a"}}'), 2),
    "duplicate inner key": (lines('{"in":1,"str":{"pre":0,"pre":0,"str":"a"}}'), 2),
    "duplicate index": (lines(A, A), 3),
    "index 0 is anonymous": (lines('{"in":0,"str":{"pre":0,"str":"a"}}'), 2),
    "dangling name": (lines('{"in":1,"str":{"pre":7,"str":"a"}}'), 2),
    "dangling level": (lines('{"ie":0,"sort":4}'), 2),
    "dangling expression": (lines(PROP, '{"ie":1,"app":{"arg":0,"fn":5}}'), 3),
    "itself": (lines('{"ie":0,"app":{"arg":0,"fn":0}}'), 2),
    "negative": (lines('{"ie":0,"bvar":-1}'), 2),
    "signed": (lines('{"ie":0,"bvar":+1}'), 2),
    "leading zero": (lines('{"ie":0,"bvar":01}'), 2),
    "float": (lines('{"ie":0,"bvar":1.0}'), 2),
    "exponent": (lines('{"ie":0,"bvar":1e3}'), 2),
    "true is no number": (lines('{"ie":0,"bvar":true}'), 2),
    "text is no number": (lines('{"ie":0,"bvar":"1"}'), 2),
    "NaN": (lines('{"ie":0,"bvar":NaN}'), 2),
    "natVal with a sign": (lines('{"ie":0,"natVal":"-3"}'), 2),
    "natVal with a zero": (lines('{"ie":0,"natVal":"03"}'), 2),
    "natVal is a number": (lines('{"ie":0,"natVal":3}'), 2),
    "natVal empty": (lines('{"ie":0,"natVal":""}'), 2),
    "lone surrogate": (lines('{"in":1,"str":{"pre":0,"str":"\\ud800"}}'), 2),
    "not UTF-8": (lines(A).replace(b'"a"', b'"\xff"'), 2),
    "deep JSON": (lines("[" * 100_000), 2),
    "free variable": (lines('{"ie":0,"fvar":null}'), 2),
    "binder info": (
        lines(A, PROP, '{"ie":1,"lam":{"binderInfo":"odd","body":0,"name":1,"type":0}}'),
        4,
    ),
    "declared twice": (lines(A, PROP, AXIOM, AXIOM), 5),
    "declared twice as other kinds": (lines(A, PROP, '{"ie":1,"sort":0}', AXIOM, DEF), 6),
    "hints": (lines(A, PROP, '{"ie":1,"sort":0}', DEF.replace('"abbrev"', '"regular"')), 5),
    "height": (
        lines(A, PROP, '{"ie":1,"sort":0}', DEF.replace('"abbrev"', '{"regular":4294967296}')),
        5,
    ),
    "safety": (lines(A, PROP, '{"ie":1,"sort":0}', DEF.replace('"safe"', '"Safe"')), 5),
    "quotient kind": (lines(A, PROP, QUOT.replace('"type"', '"Type"')), 4),
    "quotient name": (lines(A, PROP, QUOT), 4),
    "loose bound variable in a value": (lines(A, PROP, '{"bvar":0,"ie":1}', DEF), 5),
    "loose bound variable": (lines(A, '{"ie":0,"bvar":0}', AXIOM), 4),
    "anonymous constant": (lines(PROP, AXIOM.replace('"name":1', '"name":0')), 3),
    "duplicate universe": (lines(A, PROP, AXIOM.replace("[]", "[1,1]")), 4),
    "unsafe flag": (lines(A, PROP, AXIOM.replace("false", "0")), 4),
    "empty group": (lines('{"inductive":{"ctors":[],"recs":[],"types":[]}}'), 2),
}


@pytest.mark.parametrize(("data", "line"), FAULTS.values(), ids=FAULTS)
def test_faults(data: bytes, line: int) -> None:
    assert fault(data).line == line


BINDER = '{"binderInfo":"default","body":%s,"name":%s,"type":%s}'


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ('{"app":{"arg":1,"fn":0},"ie":1}', "expression 1"),
        ('{"app":{"arg":0,"fn":1},"ie":1}', "expression 1"),
        ('{"app":{"arg":0,"fn":0},"ie":0}', "expression 0 is defined twice"),
        ('{"bvar":0,"ie":0}', "expression 0 is defined twice"),
        ('{"const":{"name":1,"us":[]},"ie":0}', "expression 0 is defined twice"),
        ('{"const":{"name":2,"us":[]},"ie":1}', "name 2"),
        ('{"const":{"name":1,"us":[0,3]},"ie":1}', "level 3"),
        ('{"const":{"name":1,"us":[0,0,]},"ie":1}', "not one JSON object"),
        ('{"ie":0,"lam":%s}' % (BINDER % (0, 1, 0)), "expression 0 is defined twice"),
        ('{"ie":1,"lam":%s}' % (BINDER % (1, 1, 0)), "expression 1"),
        ('{"ie":1,"lam":%s}' % (BINDER % (0, 1, 1)), "expression 1"),
        ('{"ie":1,"lam":%s}' % (BINDER % (0, 2, 0)), "name 2"),
        ('{"forallE":%s,"ie":0}' % (BINDER % (0, 1, 0)), "expression 0 is defined twice"),
        ('{"forallE":%s,"ie":1}' % (BINDER % (1, 1, 0)), "expression 1"),
        ('{"forallE":%s,"ie":1}' % (BINDER % (0, 1, 1)), "expression 1"),
        ('{"forallE":%s,"ie":1}' % (BINDER % (0, 2, 0)), "name 2"),
        ('{"in":1,"str":{"pre":0,"str":"b"}}', "name 1 is defined twice"),
        ('{"in":2,"str":{"pre":2,"str":"b"}}', "name 2"),
        ('{"ie":1,"app":{"arg":0,"fn":0},"ie":1}', '"ie" appears twice'),
        ('{"app":{"arg":0,"fn":0}}', "neither a primitive nor a declaration"),
        ('{"ie":1,"bvar":0,"ie":1}', '"ie" appears twice'),
        ('{"in":2,"num":{"i":0,"pre":2}}', "name 2"),
        ('{"in":1,"num":{"i":0,"pre":0}}', "name 1 is defined twice"),
        ('{"in":2,"num":{"i":4294967296,"pre":0}}', "above the limit"),
        ('{"in":2,"num":{"i":00,"pre":0}}', "not one JSON object"),
        ('{"app":{"arg":00,"fn":0},"ie":1}', "not one JSON object"),
        ('{"app":{"arg":0,"fn":0},"ie":1} ,', "not one JSON object"),
        ('{"app":{"arg":0,"fn":0,"fn":0},"ie":1}', "twice in one object"),
        ('{"app":{"arg":0,"fn":9999999999},"ie":1}', "expression 9999999999"),
        ('{"app":{"arg":0,"fn":99999999999999999999999},"ie":1}', "too large"),
        ('{"bvar":2147483647,"ie":1}', "above the limit"),
    ],
)  # fmt: skip
def test_faults_in_the_exporter_s_own_spelling(row: str, what: str) -> None:
    error = fault(lines(A, PROP, row))
    assert error.line == 4
    assert what in str(error)
    # The same with the index first.
    turned = re.sub(r'^\{(".*),("ie":\d+)\}$', r"{\2,\1}", row)
    assert turned == row or '"ie"' in row
    error = fault(lines(A, PROP, turned))
    assert error.line == 4
    assert what in str(error)
    # The same where indices are sparse, so that every reference goes through a map.
    sparse = fault(lines(A, PROP, '{"ie":77,"sort":0}', row))
    assert sparse.line == 5
    assert what in str(sparse)


def test_faults_in_a_group() -> None:
    """One field of the inductive group at a time is made to disagree with the rest."""
    whole = text().decode().splitlines()
    number, group = next(
        (number, json.loads(line)["inductive"])
        for number, line in enumerate(whole)
        if line.startswith('{"inductive"')
    )
    changes = [
        ("types", "ctors", []),
        ("types", "all", []),
        ("types", "levelParams", [group["recs"][0]["levelParams"][0]]),
        ("ctors", "cidx", 1),
        ("ctors", "induct", group["ctors"][0]["name"]),
        ("ctors", "numParams", 5),
        ("ctors", "isUnsafe", True),
        ("recs", "all", []),
        ("recs", "numParams", 1),
        ("recs", "rules", [group["recs"][0]["rules"][0] | {"nfields": 7}]),
        ("recs", "rules", group["recs"][0]["rules"] * 2),
    ]
    for part, key, value in changes:
        changed = json.loads(json.dumps(group))
        changed[part][0][key] = value
        edited = [*whole]
        edited[number] = json.dumps({"inductive": changed})
        error = fault("".join(line + "\n" for line in edited).encode())
        assert error.line == number + 1, (part, key)


def test_limits() -> None:
    data = text()
    for limits in (
        ReadLimits(max_bytes=len(data) - 1),
        ReadLimits(max_expressions=3),
        ReadLimits(max_line_bytes=100),
        ReadLimits(max_nat_digits=5),
    ):
        fault(data, limits)
    for allowed in (1, 5):
        assert fault(data, ReadLimits(max_lines=allowed)).line == allowed + 1
    two = lines(PROP, '{"ie":1,"sort":0}', '{"ie":2,"sort":0}')
    assert fault(two, ReadLimits(max_expressions=2)).line == 4
    assert len(read_export(two, ReadLimits(max_expressions=3, max_lines=4)).terms) == 3
    assert read_export(data, ReadLimits(max_bytes=len(data))).declarations


def check(data: bytes) -> None:
    """Either an error of the right kind, or an export that survives being written and read."""
    try:
        export = read_export(data)
    except ExportError:
        return
    assert isinstance(export, Export)
    try:
        again = text(export)
    except ExportError:
        return  # a circle of declarations has no order
    assert text(read_export(again)) == again


def test_thousand_mutants() -> None:
    source = random.Random(20)
    data = text()
    rows = data.splitlines(keepends=True)
    for _ in range(700):
        mutant = bytearray(data)
        for _ in range(source.randint(1, 3)):
            at = source.randrange(len(mutant))
            match source.randrange(3):
                case 0:
                    mutant[at] = source.choice(b'0123456789{}[]",:abt\\\n-.\xff')
                case 1:
                    del mutant[at : at + source.randint(1, 4)]
                case _:
                    mutant[at:at] = mutant[at : at + source.randint(1, 6)]
        check(bytes(mutant))
    for _ in range(700):
        mutated = [*rows]
        at, other = source.randrange(len(rows)), source.randrange(len(rows))
        match source.randrange(4):
            case 0:
                del mutated[at]
            case 1:
                mutated.insert(other, rows[at])
            case 2:
                mutated[at], mutated[other] = mutated[other], mutated[at]
            case _:
                mutated = [*mutated[:at], rows[at][: len(rows[at]) // 2]]
        check(b"".join(mutated))


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    check(data)
    check(lines(A, PROP) + data)


def test_depth_is_no_matter() -> None:
    count = 200_000
    rows = ['{"ie":0,"sort":0}']
    rows += [f'{{"ie":{i},"app":{{"arg":0,"fn":{i - 1}}}}}' for i in range(1, count)]
    theorem = f'{{"thm":{{"all":[1],"levelParams":[],"name":1,"type":0,"value":{count - 1}}}}}'
    export = read_export(lines(A, *rows, theorem))
    assert isinstance(export.constants[("a",)], Theorem)
    again = read_export(text(export))
    assert digest(again, ("a",)) == digest(export, ("a",))
