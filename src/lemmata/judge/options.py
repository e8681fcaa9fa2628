"""How to judge: limits, sandbox, assumptions that are not wanted."""

from __future__ import annotations

from dataclasses import dataclass, field

from lemmata.errors import InputError
from lemmata.export import ReadLimits
from lemmata.lean.sandbox import LAYERS, Policy
from lemmata.lean.toolchain import COMMUNITY_BUILD, LIBRARY_PROOFS, TOOLCHAIN_AS_FOUND

GIB = 1 << 30


@dataclass(frozen=True)
class JudgeLimits:
    """Bounds on one judgement. Times in seconds of wall clock per process and phase; memory in
    bytes per process; ``heartbeats`` in Lean's unit (thousands of small allocations), for the
    elaborator, ``None`` for Lean's own default; ``kernel_heartbeats`` 0 for none."""

    wall_s: float = 300.0
    memory_bytes: int = 3 * GIB
    heartbeats: int | None = None
    kernel_heartbeats: int = 0
    printed_bytes: int = 64 * 1024
    export: ReadLimits = field(default_factory=lambda: ReadLimits(max_bytes=GIB // 4))


SINGLE_KERNEL = "single_kernel"
SANDBOX = "sandbox_"

ASSUMPTION_CODES = frozenset(
    {
        COMMUNITY_BUILD,
        LIBRARY_PROOFS.code,
        TOOLCHAIN_AS_FOUND,
        SINGLE_KERNEL,
        *(SANDBOX + layer for layer in LAYERS),
    }
)


@dataclass(frozen=True)
class JudgeOptions:
    """How to judge: limits, sandbox, and the assumption codes under which no verdict is wanted."""

    limits: JudgeLimits = field(default_factory=JudgeLimits)
    policy: Policy = field(default_factory=Policy)
    forbidden_assumptions: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raises :class:`InputError` for a code that no report ever has: a demand that is mistyped
        would otherwise be met by everything."""
        for code in sorted(self.forbidden_assumptions - ASSUMPTION_CODES):
            known = ", ".join(sorted(ASSUMPTION_CODES))
            raise InputError(f"there is no assumption {code!r} to forbid; the codes are {known}")
