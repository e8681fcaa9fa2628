"""Decimal text of natural numbers of any size.

Python caps ``int(text)`` and ``str(number)`` at a few thousand digits because both are quadratic.
Splitting in halves avoids the cap without changing it for the whole process, and costs a few
multiplications of the full size.
"""

from __future__ import annotations

_CHUNK = 4000


def nat_from_decimal(digits: str) -> int:
    """The number written by a non-empty text of ASCII digits (not checked)."""
    if len(digits) <= _CHUNK:
        return int(digits)
    parts = [int(digits[max(0, end - _CHUNK) : end]) for end in range(len(digits), 0, -_CHUNK)]
    base = 10**_CHUNK
    # `parts` is little-endian in `base`; each round joins neighbours and squares the base.
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append(0)
        parts = [low + high * base for low, high in zip(parts[::2], parts[1::2], strict=True)]
        base *= base
    return parts[0]


def nat_to_decimal(value: int) -> str:
    """The canonical decimal text of a natural number."""
    if value.bit_length() <= 3 * _CHUNK:
        return str(value)
    bases = [10**_CHUNK]
    while bases[-1] <= value:
        bases.append(bases[-1] * bases[-1])
    parts = [value]
    for base in reversed(bases):
        parts = [half for part in parts for half in divmod(part, base)]
    return "".join(f"{part:0{_CHUNK}d}" for part in parts).lstrip("0")
