"""Reading lean4export NDJSON, format 3.1.x, strictly.

The reader is where untrusted bytes become data, so it accepts exactly what the format defines and
says of everything else on which line it stands and what is wrong. Most lines are names and
applications in the exporter's own spelling; those are matched by one exact regular expression
per kind. Whatever such an expression does not match in full takes the careful way through a JSON
parser that reports duplicate keys, so the fast way decides speed and never meaning.

Metadata nodes (``mdata``, written only on request) are read and stripped, and the ``nondep`` flag
of ``let`` is read and dropped, as the exporter does with both by default.
"""

from __future__ import annotations

import io
import json
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from lemmata.errors import ExportError, InputError
from lemmata.export.declarations import (
    FORMAT_VERSION,
    QUOT_NAMES,
    Axiom,
    Constructor,
    Declaration,
    Definition,
    Export,
    HintKind,
    Hints,
    InductiveGroup,
    InductiveType,
    Meta,
    Opaque,
    Quotient,
    QuotKind,
    Recursor,
    RecursorRule,
    Safety,
    Theorem,
    check_group,
)
from lemmata.export.names import Name, format_name
from lemmata.export.terms import MAX_FIELD, BinderInfo, Terms

_VERSION = re.compile(r"3\.1\.(0|[1-9][0-9]{0,8})")
_DECIMAL = re.compile(r"0|[1-9][0-9]*", re.ASCII)
# A string without an end reaches to the end of the line; else every quote in it would be tried.
_BRACKETS_AND_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]')
_MAX_NESTING = 12
_MAX_NUMBER_DIGITS = 20
# Names are keys of dictionaries, and Python's hash of numbers can be foretold. Lean puts hashes of
# 32 bits and small counters into names; larger numbers would make collisions easy, and so would
# long sequences of numbers, which Lean makes now and then (one per nested macro expansion).
_MAX_NAME_NUMBER = 2**32 - 1
_MANY_NUMBERS = 8
_MAX_NAMES_OF_MANY_NUMBERS = 10_000
_NUMBER_CHARACTERS = 10
_MAX_HEIGHT = 2**32 - 1
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much an export may cost before it is refused.

    ``max_bytes`` and ``max_line_bytes`` count bytes, ``max_lines`` lines, ``max_expressions``
    expression nodes, ``max_nat_digits`` decimal digits of one literal, ``max_name_depth``
    components of one name, ``max_name_characters`` characters of one name (so that names can be
    shown), ``max_name_components`` components of all names together (which bounds their memory,
    because every name is stored whole).
    """

    max_bytes: int = 8 << 30
    max_line_bytes: int = 64 << 20
    max_lines: int = 100_000_000
    max_expressions: int = 100_000_000
    max_nat_digits: int = 1_000_000
    max_name_depth: int = 1_000
    max_name_characters: int = 10_000
    max_name_components: int = 50_000_000


def read_export(source: Path | bytes | BinaryIO, limits: ReadLimits | None = None) -> Export:
    """Read a whole export file.

    `source` is a path, the bytes themselves, or a binary stream. Raises `ExportError` with the
    1-based line for every fault of the content, and `InputError` when the source cannot be read.

    The result declares every constant once and refers to nothing undefined; its terms are closed.
    Whether constants mentioned in terms are declared (before use, or at all) is not checked: a
    delta export leaves out the library it builds on, and the kernel that adds the declarations in
    order decides the rest.
    """
    limits = limits or ReadLimits()
    if isinstance(source, bytes):
        return _Reader(limits).read(io.BytesIO(source))
    if isinstance(source, Path):
        try:
            with source.open("rb") as stream:
                return _Reader(limits).read(stream)
        except OSError as error:
            raise InputError(
                f"the export {source} cannot be read: {error.strerror or error}"
            ) from error
    return _Reader(limits).read(source)


def _batches(stream: BinaryIO, limits: ReadLimits) -> Iterator[tuple[int, list[bytes]]]:
    """Complete lines without their newlines, in batches, with the number of the first."""
    number = 1
    total = 0
    pieces: list[bytes] = []
    pending = 0
    while chunk := stream.read(_CHUNK_BYTES):
        total += len(chunk)
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines:
            if pieces:
                lines[0] = b"".join((*pieces, lines[0]))
                pieces, pending = [], 0
            if len(lines[0]) > limits.max_line_bytes or limits.max_line_bytes < _CHUNK_BYTES:
                for offset, line in enumerate(lines):
                    if len(line) > limits.max_line_bytes:
                        # The lines before it are read first: an earlier fault is reported first.
                        yield number, lines[:offset]
                        raise _line_too_long(limits, number + offset)
            if total > limits.max_bytes:
                raise ExportError(f"the export is longer than {limits.max_bytes} bytes", number)
            yield number, lines
            number += len(lines)
        if rest:
            pieces.append(rest)
            pending += len(rest)
            if pending > limits.max_line_bytes:
                raise _line_too_long(limits, number)
        if total > limits.max_bytes:
            raise ExportError(f"the export is longer than {limits.max_bytes} bytes", number)
    if pieces:
        raise ExportError(
            "the last line does not end with a newline, so the file is cut off; export it again",
            number,
        )
    if number == 1:
        raise ExportError("the export is empty; its first line must be the meta object", 1)


def _line_too_long(limits: ReadLimits, number: int) -> ExportError:
    return ExportError(f"the line is longer than {limits.max_line_bytes} bytes", number)


def _fault(message: str) -> NoReturn:
    """Refuse the line at hand; `_Reader.read` adds its number."""
    raise ExportError(message)


# The careful way: JSON without duplicate keys, floats or non-numbers.


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                _fault(f"the key {_quote(key)} appears twice in one object")
            seen.add(key)
    return result


def _integer(text: str) -> int:
    if text.startswith("-"):
        _fault(f"the number {_clip(text)} is negative")
    if len(text) > _MAX_NUMBER_DIGITS:
        _fault(f"the number {_clip(text)} is too large")
    return int(text)


def _not_an_integer(text: str) -> NoReturn:
    _fault(f"the number {_clip(text)} is not an integer without sign, fraction or exponent")


_decode = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_not_an_integer,
    parse_constant=_not_an_integer,
).decode


def _clip(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"


def _quote(text: str) -> str:
    return json.dumps(_clip(text))


def _check_nesting(text: str) -> None:
    if text.count("[") + text.count("{") <= _MAX_NESTING:
        return
    depth = 0
    for match in _BRACKETS_AND_STRINGS.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
            if depth > _MAX_NESTING:
                _fault("objects or arrays are nested deeper than the format allows")
        elif token in "]}":
            depth -= 1


def _parse_json(line: bytes) -> dict[str, Any]:
    if not line.strip():
        _fault("the line is blank; the format has one object on every line")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        _fault(f"byte {error.start + 1} of the line is not valid UTF-8")
    _check_nesting(text)
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        _fault(f"the line is not one JSON object: {error.msg} at column {error.colno}")
    if not isinstance(value, dict):
        _fault("the line is not a JSON object")
    return value


def _fields(
    value: Any, where: str, required: frozenset[str], optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """An object with exactly these keys."""
    if not isinstance(value, dict):
        _fault(f"{where} must be an object")
    keys = value.keys()
    if keys == required:
        return value
    for key in sorted(required - keys):
        _fault(f"{where} lacks the key {_quote(key)}")
    for key in keys - required - optional:
        _fault(f"{where} has the unknown key {_quote(key)}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        _fault(f"{where} must be a string")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            _fault(f"{where} contains a lone surrogate, which is not Unicode text")
    return value


def _natural(value: Any, where: str, maximum: int = MAX_FIELD) -> int:
    if type(value) is not int:
        _fault(f"{where} must be a natural number")
    if value > maximum:
        _fault(f"{where} is {value}, above the limit of {maximum}")
    return value


def _boolean(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        _fault(f"{where} must be true or false")
    return value


def _array(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        _fault(f"{where} must be an array")
    return value


_BINDER_INFOS: Final = {
    "default": BinderInfo.DEFAULT,
    "implicit": BinderInfo.IMPLICIT,
    "strictImplicit": BinderInfo.STRICT_IMPLICIT,
    "instImplicit": BinderInfo.INST_IMPLICIT,
}
_SAFETIES: Final = {safety.value: safety for safety in Safety}
_QUOT_KINDS: Final = {kind.value: kind for kind in QuotKind}
_QUOT_ORDER: Final = tuple(QuotKind)

_META_KEYS = frozenset({"exporter", "lean", "format"})
_BINDER_KEYS = frozenset({"binderInfo", "body", "name", "type"})
_LET_KEYS = frozenset({"body", "name", "nondep", "type", "value"})
_AXIOM_KEYS = frozenset({"isUnsafe", "levelParams", "name", "type"})
_DEF_KEYS = frozenset({"all", "hints", "levelParams", "name", "safety", "type", "value"})
_THM_KEYS = frozenset({"all", "levelParams", "name", "type", "value"})
_IS_UNSAFE = frozenset({"isUnsafe"})
_QUOT_KEYS = frozenset({"kind", "levelParams", "name", "type"})
_GROUP_KEYS = frozenset({"ctors", "recs", "types"})
_TYPE_KEYS = frozenset(
    {"all", "ctors", "isRec", "isReflexive", "isUnsafe", "levelParams", "name", "numIndices"}
    | {"numNested", "numParams", "type"}
)
_CTOR_KEYS = frozenset(
    {"cidx", "induct", "isUnsafe", "levelParams", "name", "numFields", "numParams", "type"}
)
_REC_KEYS = frozenset(
    {"all", "isUnsafe", "k", "levelParams", "name", "numIndices", "numMinors", "numMotives"}
    | {"numParams", "rules", "type"}
)
_RULE_KEYS = frozenset({"ctor", "nfields", "rhs"})

# The fast way: one regular expression per frequent kind, in the two usual spellings of an
# expression: keys in alphabetical order, as lean4export has them, or the index first, no blanks.
# A number has at most nine digits here; longer ones go the careful way.

_N = rb"(0|[1-9][0-9]{0,8})"
_INFO = rb'"(default|implicit|strictImplicit|instImplicit)"'


def _expression_line(rest: bytes) -> Callable[[bytes], re.Match[bytes] | None]:
    """Matches a whole line; the first or, if that is empty, the last group is the index."""
    return re.compile(
        rb'\{(?:"ie":' + _N + rb",)?" + rest + rb'(?(1)|,"ie":' + _N + rb")\}"
    ).fullmatch


_match_app = _expression_line(rb'"app":\{"arg":' + _N + rb',"fn":' + _N + rb"\}")
_match_binder = _expression_line(
    rb'"(?:lam|forallE)":\{"binderInfo":' + _INFO + rb',"body":' + _N + rb',"name":' + _N
    + rb',"type":' + _N + rb"\}"
)  # fmt: skip
_match_const = _expression_line(
    rb'"const":\{"name":' + _N + rb',"us":\[((?:(?:0|[1-9][0-9]{0,8})'
    rb"(?:,(?:0|[1-9][0-9]{0,8}))*)?)\]\}"
)
_match_bvar = _expression_line(rb'"bvar":' + _N)
_match_str = re.compile(
    rb'\{"in":' + _N + rb',"str":\{"pre":' + _N + rb',"str":"([^"\\\x00-\x1f]*)"\}\}'
).fullmatch
_match_num = re.compile(
    rb'\{"in":' + _N + rb',"num":\{"i":(0|[1-9][0-9]{0,9}),"pre":' + _N + rb"\}\}"
).fullmatch
_INFO_BYTES: Final = {text.encode(): int(info) for text, info in _BINDER_INFOS.items()}


class _Reader:
    """State of one reading: the tables and the maps from file indices to them."""

    def __init__(self, limits: ReadLimits) -> None:
        self.limits = limits
        self.terms = Terms()
        self.names: dict[int, int] = {0: 0}
        self.levels: dict[int, int] = {0: 0}
        # File index → expression, or None as long as every file index is the index itself.
        self.exprs: dict[int, int] | None = None
        self.name_components = 0
        self.name_characters = array("I", [0])  # Of each name, by its index in `terms`.
        self.names_of_many_numbers = 0
        self.meta: Meta | None = None
        self.declarations: list[Declaration] = []
        self.lines: list[int] = []
        self.declared: dict[Name, int] = {}
        self.quot_kinds = 0
        self.number = 0
        self.primitives: dict[str, Callable[[int, Any], None]] = {
            "str": self._name_str,
            "num": self._name_num,
            "succ": self._level_succ,
            "max": self._level_max,
            "imax": self._level_imax,
            "param": self._level_param,
            "bvar": self._bvar,
            "sort": self._sort,
            "const": self._const,
            "app": self._app,
            "lam": self._lam,
            "forallE": self._forall,
            "letE": self._let,
            "proj": self._proj,
            "natVal": self._nat,
            "strVal": self._string,
            "mdata": self._mdata,
        }
        self.declarers: dict[str, Callable[[Any], Declaration]] = {
            "axiom": self._axiom,
            "def": self._definition,
            "thm": self._theorem,
            "opaque": self._opaque,
            "quot": self._quotient,
            "inductive": self._inductive,
        }

    def read(self, stream: BinaryIO) -> Export:
        try:
            for first, lines in _batches(stream, self.limits):
                if first + len(lines) - 1 > self.limits.max_lines:
                    raise ExportError(
                        f"the export has more than {self.limits.max_lines} lines",
                        self.limits.max_lines + 1,
                    )
                self._read_lines(first, lines)
        except ExportError as error:
            if error.line:
                raise
            raise ExportError(str(error), self.number) from None
        if 0 < self.quot_kinds < len(_QUOT_ORDER):
            last = next(
                line
                for line, declaration in zip(
                    reversed(self.lines), reversed(self.declarations), strict=True
                )
                if isinstance(declaration, Quotient)
            )
            raise ExportError(
                "the quotient declarations are incomplete; type, ctor, lift and ind come together",
                last,
            )
        assert self.meta is not None
        return Export(self.terms, tuple(self.declarations), self.meta, tuple(self.lines))

    def _read_lines(self, first: int, lines: list[bytes]) -> None:
        terms = self.terms
        kinds, loose = terms.kinds, terms.loose
        add_kind, add_loose = kinds.append, loose.append
        add_a, add_b, add_c, add_d = (
            terms.a.append,
            terms.b.append,
            terms.c.append,
            terms.d.append,
        )
        name_index = self.names.get
        level_lists: dict[bytes, int] = {}
        maximum = min(self.limits.max_expressions, MAX_FIELD)
        careful = self._careful_line
        infos = _INFO_BYTES
        count = len(kinds)
        number = first - 1
        if self.exprs is not None:
            # Sparse or stripped indices need a map; only names keep their fast way.
            count = -1
        start = 0
        if first == 1 and lines:
            number = self.number = 1
            self._meta_line(lines[0])
            start = 1
        for line in lines[start:] if start else lines:
            number += 1
            tag = line[2:6]
            if tag == b'ie":':
                cut = line.find(b",", 6)
                tag = line[cut + 2 : cut + 6]
            # Every branch falls through to the careful way unless all of its conditions hold.
            if tag == b'app"':
                if match := _match_app(line):
                    index, arg_, fn_, last = match.groups()
                    arg, fn = int(arg_), int(fn_)
                    if int(index or last) == count < maximum and arg < count and fn < count:
                        add_kind(6)
                        add_a(fn)
                        add_b(arg)
                        add_c(0)
                        add_d(0)
                        left, right = loose[fn], loose[arg]
                        add_loose(left if left > right else right)
                        count += 1
                        continue
            elif tag == b'lam"' or tag == b"fora":
                if match := _match_binder(line):
                    index, info, body_, name_, type_, last = match.groups()
                    name = name_index(int(name_))
                    body, domain = int(body_), int(type_)
                    if (
                        int(index or last) == count < maximum
                        and name is not None
                        and body < count
                        and domain < count
                    ):
                        add_kind(7 if tag == b'lam"' else 8)
                        add_a(domain)
                        add_b(body)
                        add_c(infos[info])
                        add_d(name)
                        left, right = loose[domain], loose[body] - 1
                        add_loose(left if left > right else right)
                        count += 1
                        continue
            elif tag == b"cons":
                if match := _match_const(line):
                    index, name_, levels, last = match.groups()
                    name = name_index(int(name_))
                    level_list = level_lists.get(levels)
                    if level_list is None:
                        level_list = self._level_list_fast(levels)
                        if level_list is not None:
                            level_lists[levels] = level_list
                    if (
                        int(index or last) == count < maximum
                        and name is not None
                        and level_list is not None
                    ):
                        add_kind(2)
                        add_a(level_list)
                        add_b(0)
                        add_c(0)
                        add_d(name)
                        add_loose(0)
                        count += 1
                        continue
            elif tag == b"bvar":
                if match := _match_bvar(line):
                    index, variable_, last = match.groups()
                    if int(index or last) == count < maximum:
                        variable = int(variable_)
                        add_kind(0)
                        add_a(variable)
                        add_b(0)
                        add_c(0)
                        add_d(0)
                        add_loose(variable + 1)
                        count += 1
                        continue
            elif tag == b'in":':
                if match := _match_str(line):
                    index, prefix_, text = match.groups()
                    prefix = name_index(int(prefix_))
                    at = int(index)
                    if prefix is not None and at not in self.names and text.isascii():
                        self.number = number
                        self._add_name(at, prefix, text.decode())
                        continue
                elif match := _match_num(line):
                    index, component, prefix_ = match.groups()
                    prefix = name_index(int(prefix_))
                    at, value = int(index), int(component)
                    if prefix is not None and at not in self.names and value <= _MAX_NAME_NUMBER:
                        self.number = number
                        self._add_name(at, prefix, value)
                        continue
            self.number = number
            careful(line)
            count = len(kinds) if self.exprs is None else -1

    def _level_list_fast(self, levels: bytes) -> int | None:
        indices = [self.levels.get(int(level)) for level in levels.split(b",")] if levels else []
        if None in indices:
            return None
        return self.terms.add_level_list(tuple(index for index in indices if index is not None))

    def _meta_line(self, line: bytes) -> None:
        value = _parse_json(line)
        if value.keys() != {"meta"}:
            _fault(
                'the first line must be {"meta": …}, which says who wrote the file and in which'
                " format"
            )
        payload = value["meta"]
        # The version first: another version may well have another meta object.
        if isinstance(payload, dict) and isinstance(payload.get("format"), dict):
            version = payload["format"].get("version")
            if isinstance(version, str) and not _VERSION.fullmatch(version):
                _fault(
                    f"the export has format version {_quote(version)}, but this reader reads"
                    f" {FORMAT_VERSION} (3.1.x); use an exporter that writes that version"
                )
        meta = _fields(payload, "the meta object", _META_KEYS)
        exporter = _fields(meta["exporter"], '"exporter"', frozenset({"name", "version"}))
        lean = _fields(meta["lean"], '"lean"', frozenset({"githash", "version"}))
        format_ = _fields(meta["format"], '"format"', frozenset({"version"}))
        self.meta = Meta(
            exporter_name=_text(exporter["name"], '"name"'),
            exporter_version=_text(exporter["version"], '"version"'),
            lean_version=_text(lean["version"], '"version"'),
            lean_githash=_text(lean["githash"], '"githash"'),
            format_version=_text(format_["version"], 'the format\'s "version"'),
        )

    def _careful_line(self, line: bytes) -> None:
        value = _parse_json(line)
        if len(value) == 2:
            for space in ("ie", "in", "il"):
                if space in value:
                    ((kind, payload),) = ((k, v) for k, v in value.items() if k != space)
                    handler = self.primitives.get(kind)
                    if handler is None or _SPACE_OF[kind] != space:
                        _fault(f"{_quote(kind)} is no primitive of the {_SPACE_WORDS[space]}")
                    handler(_natural(value[space], f'"{space}"', 10**18), payload)
                    return
        elif len(value) == 1:
            ((kind, payload),) = value.items()
            declarer = self.declarers.get(kind)
            if declarer is not None:
                self._declare(declarer(payload))
                return
            if kind == "meta":
                _fault("the meta object appears again; it must be the first line only")
        shown = ", ".join(_quote(key) for key in list(value)[:4])
        _fault(f"the line is neither a primitive nor a declaration (its keys: {shown or 'none'})")

    # References.

    def _name_ref(self, value: Any, where: str) -> int:
        index = self.names.get(_natural(value, where, 10**18))
        if index is None:
            _fault(f"{where} refers to name {value}, which is not defined yet")
        return index

    def _name(self, value: Any, where: str) -> Name:
        return self.terms.names[self._name_ref(value, where)]

    def _names(self, value: Any, where: str) -> tuple[Name, ...]:
        return tuple(self._name(item, where) for item in _array(value, where))

    def _level(self, value: Any, where: str) -> int:
        index = self.levels.get(_natural(value, where, 10**18))
        if index is None:
            _fault(f"{where} refers to level {value}, which is not defined yet")
        return index

    def _expr(self, value: Any, where: str) -> int:
        number = _natural(value, where, 10**18)
        index: int | None
        if self.exprs is None:
            index = number if number < len(self.terms) else None
        else:
            index = self.exprs.get(number)
        if index is None:
            _fault(f"{where} refers to expression {number}, which is not defined yet")
        return index

    def _closed(self, value: Any, where: str) -> int:
        index = self._expr(value, where)
        if self.terms.loose[index]:
            _fault(f"{where} has a loose bound variable")
        return index

    # Names and levels.

    def _add_name(self, index: int, prefix: int, component: str | int) -> None:
        name = self.terms.names[prefix]
        depth = len(name) + 1
        if depth > self.limits.max_name_depth:
            _fault(f"name {index} has more than {self.limits.max_name_depth} components")
        self.name_components += depth
        if self.name_components > self.limits.max_name_components:
            _fault(f"the names have more than {self.limits.max_name_components} components")
        characters = self.name_characters[prefix] + (
            len(component) if isinstance(component, str) else _NUMBER_CHARACTERS
        )
        if characters > self.limits.max_name_characters:
            _fault(f"name {index} has more than {self.limits.max_name_characters} characters")
        name = (*name, component)
        if depth > _MANY_NUMBERS and sum(isinstance(part, int) for part in name) > _MANY_NUMBERS:
            self.names_of_many_numbers += 1
            if self.names_of_many_numbers > _MAX_NAMES_OF_MANY_NUMBERS:
                _fault(
                    f"more than {_MAX_NAMES_OF_MANY_NUMBERS} names have more than {_MANY_NUMBERS}"
                    " numbers each"
                )
        added = self.names[index] = self.terms.add_name(name)
        if added == len(self.name_characters):
            self.name_characters.append(characters)

    def _new_name(self, index: int) -> None:
        if index in self.names:
            _fault(f"name {index} is defined twice")

    def _name_str(self, index: int, payload: Any) -> None:
        self._new_name(index)
        fields = _fields(payload, '"str"', frozenset({"pre", "str"}))
        prefix = self._name_ref(fields["pre"], '"pre"')
        self._add_name(index, prefix, _text(fields["str"], '"str"'))

    def _name_num(self, index: int, payload: Any) -> None:
        self._new_name(index)
        fields = _fields(payload, '"num"', frozenset({"i", "pre"}))
        prefix = self._name_ref(fields["pre"], '"pre"')
        self._add_name(index, prefix, _natural(fields["i"], '"i"', _MAX_NAME_NUMBER))

    def _new_level(self, index: int) -> None:
        if index in self.levels:
            _fault(f"level {index} is defined twice")

    def _level_succ(self, index: int, payload: Any) -> None:
        self._new_level(index)
        self.levels[index] = self.terms.add_level_succ(self._level(payload, '"succ"'))

    def _level_pair(self, payload: Any, where: str) -> tuple[int, int]:
        items = _array(payload, where)
        if len(items) != 2:
            _fault(f"{where} must have two levels")
        return self._level(items[0], where), self._level(items[1], where)

    def _level_max(self, index: int, payload: Any) -> None:
        self._new_level(index)
        self.levels[index] = self.terms.add_level_max(*self._level_pair(payload, '"max"'))

    def _level_imax(self, index: int, payload: Any) -> None:
        self._new_level(index)
        self.levels[index] = self.terms.add_level_imax(*self._level_pair(payload, '"imax"'))

    def _level_param(self, index: int, payload: Any) -> None:
        self._new_level(index)
        self.levels[index] = self.terms.add_level_param(self._name(payload, '"param"'))

    # Expressions.

    def _new_expr(self, index: int) -> None:
        count = len(self.terms)
        if index < count if self.exprs is None else index in self.exprs:
            _fault(f"expression {index} is defined twice")
        if count >= self.limits.max_expressions:
            _fault(f"the export has more than {self.limits.max_expressions} expressions")

    def _define(self, index: int, expr: int) -> None:
        """Let a file index mean the expression that was just added."""
        if self.exprs is None:
            if index == expr:
                return
            self.exprs = {known: known for known in range(expr)}
        self.exprs[index] = expr

    def _bvar(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        variable = _natural(payload, '"bvar"', MAX_FIELD - 1)
        self._define(index, self.terms.add_bvar(variable))

    def _sort(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        level = self._level(payload, '"sort"')
        self._define(index, self.terms.add_sort(level))

    def _const(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        fields = _fields(payload, '"const"', frozenset({"name", "us"}))
        name = self._name(fields["name"], '"name"')
        levels = tuple(self._level(item, '"us"') for item in _array(fields["us"], '"us"'))
        self._define(index, self.terms.add_const(name, levels))

    def _app(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        fields = _fields(payload, '"app"', frozenset({"arg", "fn"}))
        fn, arg = self._expr(fields["fn"], '"fn"'), self._expr(fields["arg"], '"arg"')
        self._define(index, self.terms.add_app(fn, arg))

    def _binder(self, payload: Any, where: str) -> tuple[Name, int, int, BinderInfo]:
        fields = _fields(payload, where, _BINDER_KEYS)
        info = fields["binderInfo"]
        if not isinstance(info, str) or info not in _BINDER_INFOS:
            _fault(f'"binderInfo" must be one of {", ".join(_BINDER_INFOS)}')
        return (
            self._name(fields["name"], '"name"'),
            self._expr(fields["type"], '"type"'),
            self._expr(fields["body"], '"body"'),
            _BINDER_INFOS[info],
        )

    def _lam(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        self._define(index, self.terms.add_lam(*self._binder(payload, '"lam"')))

    def _forall(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        self._define(index, self.terms.add_forall(*self._binder(payload, '"forallE"')))

    def _let(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        fields = _fields(payload, '"letE"', _LET_KEYS)
        _boolean(fields["nondep"], '"nondep"')
        name = self._name(fields["name"], '"name"')
        type_, value = self._expr(fields["type"], '"type"'), self._expr(fields["value"], '"value"')
        body = self._expr(fields["body"], '"body"')
        self._define(index, self.terms.add_let(name, type_, value, body))

    def _proj(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        fields = _fields(payload, '"proj"', frozenset({"idx", "struct", "typeName"}))
        type_name = self._name(fields["typeName"], '"typeName"')
        struct = self._expr(fields["struct"], '"struct"')
        field = _natural(fields["idx"], '"idx"')
        self._define(index, self.terms.add_proj(type_name, field, struct))

    def _nat(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        digits = _text(payload, '"natVal"')
        if not _DECIMAL.fullmatch(digits):
            _fault(f'"natVal" must be a natural number in decimal, not {_quote(digits)}')
        if len(digits) > self.limits.max_nat_digits:
            _fault(f'"natVal" has more than {self.limits.max_nat_digits} digits')
        self._define(index, self.terms.add_nat_decimal(digits))

    def _string(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        self._define(index, self.terms.add_string(_text(payload, '"strVal"')))

    def _mdata(self, index: int, payload: Any) -> None:
        self._new_expr(index)
        fields = _fields(payload, '"mdata"', frozenset({"data", "expr"}))
        if not isinstance(fields["data"], dict):
            _fault('"data" must be an object')
        for key, value in fields["data"].items():
            _text(key, 'a key of "data"')
            _text(value, 'a value of "data"')
        expr = self._expr(fields["expr"], '"expr"')
        if self.exprs is None:
            self.exprs = {known: known for known in range(len(self.terms))}
        self.exprs[index] = expr

    # Declarations.

    def _declare(self, declaration: Declaration) -> None:
        for name in declaration.names():
            if not name:
                _fault("a declaration has the anonymous name")
            earlier = self.declared.get(name)
            if earlier is not None:
                _fault(f"{format_name(name)} is declared twice (first on line {earlier})")
            self.declared[name] = self.number
        self.declarations.append(declaration)
        self.lines.append(self.number)

    def _level_params(self, value: Any) -> tuple[Name, ...]:
        params = self._names(value, '"levelParams"')
        if len(set(params)) != len(params):
            _fault('"levelParams" has a name twice')
        return params

    def _head(self, fields: dict[str, Any]) -> tuple[Name, tuple[Name, ...], int]:
        return (
            self._name(fields["name"], '"name"'),
            self._level_params(fields["levelParams"]),
            self._closed(fields["type"], '"type"'),
        )

    def _axiom(self, payload: Any) -> Axiom:
        fields = _fields(payload, '"axiom"', _AXIOM_KEYS)
        return Axiom(*self._head(fields), _boolean(fields["isUnsafe"], '"isUnsafe"'))

    def _hints(self, value: Any) -> Hints:
        if value == "opaque":
            return Hints(HintKind.OPAQUE)
        if value == "abbrev":
            return Hints(HintKind.ABBREV)
        if isinstance(value, dict):
            fields = _fields(value, '"hints"', frozenset({"regular"}))
            return Hints(HintKind.REGULAR, _natural(fields["regular"], '"regular"', _MAX_HEIGHT))
        _fault('"hints" must be "opaque", "abbrev" or {"regular": n}')

    def _definition(self, payload: Any) -> Definition:
        fields = _fields(payload, '"def"', _DEF_KEYS)
        safety = fields["safety"]
        if not isinstance(safety, str) or safety not in _SAFETIES:
            _fault(f'"safety" must be one of {", ".join(_SAFETIES)}')
        return Definition(
            *self._head(fields),
            self._closed(fields["value"], '"value"'),
            self._hints(fields["hints"]),
            _SAFETIES[safety],
            self._names(fields["all"], '"all"'),
        )

    def _theorem(self, payload: Any) -> Theorem:
        fields = _fields(payload, '"thm"', _THM_KEYS)
        return Theorem(
            *self._head(fields),
            self._closed(fields["value"], '"value"'),
            self._names(fields["all"], '"all"'),
        )

    def _opaque(self, payload: Any) -> Opaque:
        # Exporters before 3.1 left out "isUnsafe" here.
        fields = _fields(payload, '"opaque"', _THM_KEYS, _IS_UNSAFE)
        return Opaque(
            *self._head(fields),
            self._closed(fields["value"], '"value"'),
            _boolean(fields.get("isUnsafe", False), '"isUnsafe"'),
            self._names(fields["all"], '"all"'),
        )

    def _quotient(self, payload: Any) -> Quotient:
        fields = _fields(payload, '"quot"', _QUOT_KEYS)
        kind = fields["kind"]
        if not isinstance(kind, str) or kind not in _QUOT_KINDS:
            _fault(f'"kind" must be one of {", ".join(_QUOT_KINDS)}')
        quotient = Quotient(*self._head(fields), _QUOT_KINDS[kind])
        if self.quot_kinds == len(_QUOT_ORDER) or _QUOT_ORDER[self.quot_kinds] != quotient.kind:
            _fault("the quotient declarations must be type, ctor, lift and ind, in this order")
        if quotient.name != QUOT_NAMES[quotient.kind]:
            _fault(
                f"the quotient declaration of kind {kind} must be named"
                f" {format_name(QUOT_NAMES[quotient.kind])}, not {format_name(quotient.name)}"
            )
        self.quot_kinds += 1
        return quotient

    def _inductive(self, payload: Any) -> InductiveGroup:
        fields = _fields(payload, '"inductive"', _GROUP_KEYS)
        group = InductiveGroup(
            tuple(map(self._inductive_type, _array(fields["types"], '"types"'))),
            tuple(map(self._constructor, _array(fields["ctors"], '"ctors"'))),
            tuple(map(self._recursor, _array(fields["recs"], '"recs"'))),
        )
        check_group(group)
        return group.canonical()

    def _inductive_type(self, payload: Any) -> InductiveType:
        fields = _fields(payload, 'an item of "types"', _TYPE_KEYS)
        return InductiveType(
            *self._head(fields),
            _natural(fields["numParams"], '"numParams"'),
            _natural(fields["numIndices"], '"numIndices"'),
            self._names(fields["all"], '"all"'),
            self._names(fields["ctors"], '"ctors"'),
            _natural(fields["numNested"], '"numNested"'),
            _boolean(fields["isRec"], '"isRec"'),
            _boolean(fields["isUnsafe"], '"isUnsafe"'),
            _boolean(fields["isReflexive"], '"isReflexive"'),
        )

    def _constructor(self, payload: Any) -> Constructor:
        fields = _fields(payload, 'an item of "ctors"', _CTOR_KEYS)
        return Constructor(
            *self._head(fields),
            self._name(fields["induct"], '"induct"'),
            _natural(fields["cidx"], '"cidx"'),
            _natural(fields["numParams"], '"numParams"'),
            _natural(fields["numFields"], '"numFields"'),
            _boolean(fields["isUnsafe"], '"isUnsafe"'),
        )

    def _recursor(self, payload: Any) -> Recursor:
        fields = _fields(payload, 'an item of "recs"', _REC_KEYS)
        return Recursor(
            *self._head(fields),
            self._names(fields["all"], '"all"'),
            _natural(fields["numParams"], '"numParams"'),
            _natural(fields["numIndices"], '"numIndices"'),
            _natural(fields["numMotives"], '"numMotives"'),
            _natural(fields["numMinors"], '"numMinors"'),
            tuple(map(self._rule, _array(fields["rules"], '"rules"'))),
            _boolean(fields["k"], '"k"'),
            _boolean(fields["isUnsafe"], '"isUnsafe"'),
        )

    def _rule(self, payload: Any) -> RecursorRule:
        fields = _fields(payload, 'an item of "rules"', _RULE_KEYS)
        return RecursorRule(
            self._name(fields["ctor"], '"ctor"'),
            _natural(fields["nfields"], '"nfields"'),
            self._closed(fields["rhs"], '"rhs"'),
        )


_SPACE_WORDS: Final = {"in": "names", "il": "levels", "ie": "expressions"}
_SPACE_OF: Final = {
    "str": "in",
    "num": "in",
    "succ": "il",
    "max": "il",
    "imax": "il",
    "param": "il",
    "bvar": "ie",
    "sort": "ie",
    "const": "ie",
    "app": "ie",
    "lam": "ie",
    "forallE": "ie",
    "letE": "ie",
    "proj": "ie",
    "natVal": "ie",
    "strVal": "ie",
    "mdata": "ie",
}
