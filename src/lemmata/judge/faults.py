"""Faults that are known of Lean's kernel, for when no second kernel is there to catch them.

Part of the trusted core (standard library only).
"""

from __future__ import annotations

import re

from lemmata.export import Export, InductiveGroup, Name, closure, format_name
from lemmata.judge.finding import Finding
from lemmata.judge.verdict import Reason

_CHECKS_NESTED = (4, 35)
"""The first version whose kernel was seen to refuse ill-typed parameters of nested types."""


def known_fault(solution: Export, target: Name, version: str) -> Finding | None:
    """A finding (undecided) if a target that the kernel of Lean ``version`` alone has accepted
    rests on what that kernel is known to check badly: the parameters of nested inductive types
    (lean4 #14576)."""
    number = re.match(r"(\d+)\.(\d+)", version)
    if number is not None and (int(number[1]), int(number[2])) >= _CHECKS_NESTED:
        return None
    for position in closure(solution, [target]).positions:
        declaration = solution.declarations[position]
        if isinstance(declaration, InductiveGroup) and any(
            type_.num_nested for type_ in declaration.types
        ):
            name = declaration.types[0].name
            return Finding(
                Reason.KERNEL_FAULT,
                f"{format_name(target)} rests on the nested inductive type {format_name(name)}, "
                f"which the kernel of Lean {version} is known to check badly (lean4 #14576), and "
                "no second kernel was asked; install the official one",
                name,
            )
    return None
