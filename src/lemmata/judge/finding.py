"""What a check found wrong. Part of the trusted core (standard library only)."""

from __future__ import annotations

from dataclasses import dataclass

from lemmata.export import Name
from lemmata.judge.verdict import Reason, Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: the reason, one sentence, and where.

    ``constant`` is the constant at fault. ``path`` leads from the root of its type or value to the
    first differing sub-term, whose two sides are ``expected`` (the challenge) and ``found`` (the
    solution). ``chain`` is the shortest chain of constants from the target to the constant.
    """

    reason: Reason
    message: str
    constant: Name | None = None
    path: tuple[str, ...] = ()
    expected: str = ""
    found: str = ""
    chain: tuple[Name, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.reason, self.message)
