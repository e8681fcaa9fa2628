"""Where no second kernel is installed, the first one's known faults must not be accepted."""

from __future__ import annotations

from pathlib import Path

from lemmata.judge import Outcome, Reason, judge_files
from lemmata.lean.toolchain import EmbeddedToolchain

CASES = Path(__file__).parents[1] / "cases"


def test_ill_typed_parameter_of_a_nested_type(embedded: EmbeddedToolchain) -> None:
    config = CASES / "attacks" / "nested-inductive-parameter" / "config.json"
    report = judge_files(config, embedded, None)
    assert report.verdict.reason is Reason.KERNEL_FAULT
    assert "single_kernel" in {assumption.code for assumption in report.assumptions}


def test_other_proofs_are_accepted_with_the_assumption(embedded: EmbeddedToolchain) -> None:
    report = judge_files(CASES / "honest" / "omega" / "config.json", embedded, None)
    assert report.outcome is Outcome.ACCEPTED
    assert "single_kernel" in {assumption.code for assumption in report.assumptions}
