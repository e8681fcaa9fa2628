"""The native code path: a ``lean`` on this machine, here a wrapper around the embedded one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lean.wrapper import write_wrapper

from lemmata.judge import Outcome, judge_files
from lemmata.lean.toolchain import EmbeddedToolchain, native_toolchain

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.lean
def test_judging_with_a_native_toolchain(embedded: EmbeddedToolchain, tmp_path: Path) -> None:
    lean = native_toolchain(write_wrapper(tmp_path, embedded), origin="a test")
    report = judge_files(EXAMPLES / "honest" / "config.json", lean, None)
    assert report.outcome is Outcome.ACCEPTED, report.verdict
    codes = {assumption.code for assumption in report.assumptions}
    assert {"toolchain_as_found", "single_kernel"} <= codes
    assert "community_build" not in codes
