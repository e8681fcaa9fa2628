"""Names: structural, with a dotted text form for people.

A name is a tuple of components, each a string or a non-negative integer; the anonymous name is
``()``. Nothing in Lemmata decides anything on the dotted text, yet two different names never have
the same text, so that a message cannot show one name and mean another.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

from lemmata.errors import ExportError

Name: TypeAlias = "tuple[str | int, ...]"
"""Components from the root to the last one; ``()`` is the anonymous name."""

ANONYMOUS: Name = ()

_ANONYMOUS_TEXT = "[anonymous]"

# What Lean calls letter-like (`Lean.isLetterLike`): Greek without λ, Π, Σ, Coptic, polytonic
# Greek, letter-like symbols, mathematical script, and Latin letters with diacritics.
_LETTERS = (
    "A-Za-z_"
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f"
    "\u0391-\u039f\u03a1-\u03a2\u03a4-\u03a9\u03b1-\u03ba\u03bc-\u03fb"
    "\u1f00-\u1ffe\u2100-\u214f\U0001d49c-\U0001d59f"
)
_SUBSCRIPTS = "\u2080-\u2089\u2090-\u209c\u1d62-\u1d6a\u2c7c"
_IDENTIFIER = re.compile(f"[{_LETTERS}][{_LETTERS}0-9'!?{_SUBSCRIPTS}]*")
_NUMBER = re.compile("0|[1-9][0-9]*")
_GUILLEMETS = re.compile("«([^»]*)»")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)

# Characters that a terminal may act on or hide: controls, line separators, bidirectional and
# zero-width formatting, and surrogates, which are no characters at all.
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f»]"
)


def _format_component(component: str | int) -> str:
    if isinstance(component, int):
        # Python refuses to write very long numbers in decimal.
        return str(component) if component.bit_length() < 4096 else hex(component)
    if _IDENTIFIER.fullmatch(component):
        return component
    if not _UNSHOWABLE.search(component):
        return f"«{component}»"
    escaped = _UNSHOWABLE.sub(
        lambda match: json.dumps(match[0])[1:-1],
        component.replace("\\", "\\\\").replace('"', '\\"'),
    )
    return f'"{escaped}"'


def format_name(name: Name) -> str:
    """The dotted text of a name, as Lean prints it with guillemets where they are needed.

    A component that guillemets cannot carry, because it contains ``»``, or that must not reach a
    terminal raw (controls, bidirectional marks) is shown as a JSON string literal instead, which
    no Lean name can be mistaken for: ``a."b\\u00bbc"``. The text determines the name.
    """
    if not name:
        return _ANONYMOUS_TEXT
    return ".".join(map(_format_component, name))


def parse_name(text: str) -> Name:
    """The name a text stands for: the inverse of `format_name`, superfluous guillemets allowed.

    Raises `ExportError` when the text is not one name from its first to its last character.
    """
    if text == _ANONYMOUS_TEXT:
        return ANONYMOUS
    components: list[str | int] = []
    position = 0
    while True:
        if match := _IDENTIFIER.match(text, position):
            components.append(match[0])
        elif match := _NUMBER.match(text, position):
            components.append(_parse_number(match[0], text))
        elif match := _GUILLEMETS.match(text, position):
            components.append(match[1])
        elif match := _STRING.match(text, position):
            try:
                components.append(json.loads(match[0]))
            except ValueError:
                raise _not_a_name(text, position) from None
        else:
            raise _not_a_name(text, position)
        position = match.end()
        if position == len(text):
            return tuple(components)
        if text[position] != ".":
            raise _not_a_name(text, position)
        position += 1


def _parse_number(digits: str, text: str) -> int:
    # Python refuses to convert very long numbers; no component Lean writes comes near.
    if len(digits) > 1000:
        raise ExportError(f"a numeric component of the name {_excerpt(text)} is too long")
    return int(digits)


def _not_a_name(text: str, position: int) -> ExportError:
    return ExportError(
        f"{_excerpt(text)} is not a Lean name (at character {position + 1}); put components that"
        " are not identifiers in guillemets, as in a.«b c»"
    )


def _excerpt(text: str) -> str:
    return json.dumps(text if len(text) <= 80 else text[:80] + "…")


def name_key(name: Name) -> tuple[tuple[int, int, str], ...]:
    """A sort key: a total order on names, numbers before strings, shorter names first on ties."""
    return tuple(
        (0, component, "") if isinstance(component, int) else (1, 0, component)
        for component in name
    )
