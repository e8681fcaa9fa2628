"""The judge's report: everything a verdict rests on, as data.

``to_json`` is the stable form (schema ``lemmata.judge/1``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lemmata.export import Name, format_name
from lemmata.judge.decide import TargetDecision
from lemmata.judge.finding import Finding
from lemmata.judge.produce import Message
from lemmata.judge.verdict import Outcome, Reason, Verdict
from lemmata.lean.assumption import Assumption
from lemmata.lean.sandbox import LayerStatus

SCHEMA = "lemmata.judge/1"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that took part, with the SHA-256 of its bytes."""

    role: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that took part; ``digest`` is a SHA-256 that pins it."""

    role: str
    description: str
    digest: str


@dataclass(frozen=True)
class Report:
    """The result of one judgement. ``verdict`` is that of the whole; seconds per phase are wall
    time, and phases overlap."""

    verdict: Verdict
    targets: tuple[TargetDecision, ...]
    inputs: tuple[InputFile, ...]
    tools: tuple[Tool, ...]
    assumptions: tuple[Assumption, ...]
    layers: tuple[LayerStatus, ...]
    messages: tuple[Message, ...] = ()
    printed: str = ""
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    lemmata_version: str = ""

    @property
    def outcome(self) -> Outcome:
        return self.verdict.outcome

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "lemmata": self.lemmata_version,
            **_verdict(self.verdict),
            "targets": [_target(target) for target in self.targets],
            "assumptions": [
                {"code": assumption.code, "text": assumption.text}
                for assumption in self.assumptions
            ],
            "inputs": [
                {"role": file.role, "path": file.path, "sha256": file.sha256}
                for file in self.inputs
            ],
            "tools": [
                {"role": tool.role, "description": tool.description, "digest": tool.digest}
                for tool in self.tools
            ],
            "sandbox": [
                {"layer": layer.name, "state": layer.state.value, "detail": layer.detail}
                for layer in self.layers
            ],
            "messages": [
                {
                    "module": message.module,
                    "severity": message.severity,
                    "line": message.line,
                    "column": message.column,
                    "kind": message.kind,
                    "text": message.text,
                    "compile_only": message.compile_only,
                }
                for message in self.messages
            ],
            "printed": self.printed,
            "notes": list(self.notes),
            "seconds": {phase: round(value, 4) for phase, value in self.seconds.items()},
        }


def target_verdict(target: TargetDecision) -> Verdict:
    return Verdict(None) if target.finding is None else target.finding.verdict


def _verdict(verdict: Verdict) -> dict[str, Any]:
    reason: Reason | None = verdict.reason
    return {
        "outcome": str(verdict.outcome),
        "reason": None if reason is None else str(reason),
        "message": verdict.message,
    }


def _target(target: TargetDecision) -> dict[str, Any]:
    return {
        "name": list(target.target),
        "display": format_name(target.target),
        **_verdict(target_verdict(target)),
        "where": _where(target.finding),
        "axioms": _names(target.axioms),
        "kernels": {
            kernel: "accepted" if finding is None else str(finding.reason)
            for kernel, finding in target.kernels.items()
        },
    }


def _where(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {
        "constant": None if finding.constant is None else list(finding.constant),
        "path": list(finding.path),
        "expected": finding.expected,
        "found": finding.found,
        "chain": [list(name) for name in finding.chain],
    }


def _names(names: frozenset[Name]) -> list[list[str | int]]:
    return [list(name) for name in sorted(names, key=format_name)]
