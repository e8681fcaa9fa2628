"""What a verdict takes for granted, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Assumption:
    """``code`` is stable and can be forbidden; ``text`` is one sentence for people."""

    code: str
    text: str
