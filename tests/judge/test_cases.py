"""Every folder in ``tests/cases`` is judged with real Lean and must come out as it says.

All selected cases are judged in one event loop with warm shared processes, two at a time; each
test then looks at one report.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lemmata.errors import LemmataError
from lemmata.judge import Judge, JudgeLimits, JudgeOptions, Outcome, Report, load_config
from lemmata.lean.kernels import NativeKernel
from lemmata.lean.toolchain import EmbeddedToolchain

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/expect.json"))
AT_ONCE = 2

Reports = Mapping[Path, Report | LemmataError]


def expectation(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    return data


def options(folder: Path) -> JudgeOptions:
    limits = {"wall_s": 60.0, **expectation(folder).get("limits", {})}
    return JudgeOptions(JudgeLimits(**limits))


async def judge_all(
    folders: Sequence[Path], toolchain: EmbeddedToolchain, native: NativeKernel
) -> Reports:
    """Cases with the same limits share a judge. An error is kept as the case's result."""
    reports: dict[Path, Report | LemmataError] = {}
    groups: dict[str, list[Path]] = {}
    for folder in folders:
        groups.setdefault(str(options(folder)), []).append(folder)
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(judge: Judge, folder: Path) -> None:
        async with turns:
            try:
                config = load_config(folder / "config.json")
                reports[folder] = await judge.judge(config, folder, folder / "config.json")
            except LemmataError as error:
                reports[folder] = error

    for group in groups.values():
        async with Judge(toolchain, native, options(group[0])) as judge:
            await asyncio.gather(*(one(judge, folder) for folder in group))
    return reports


@pytest.fixture(scope="session")
def reports(
    request: pytest.FixtureRequest, embedded: EmbeddedToolchain, native_kernel: NativeKernel
) -> Reports:
    selected = {
        item.callspec.params["folder"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.function is test_case
    }
    for folder in selected:
        for marker in markers(folder):
            marker.unlink(missing_ok=True)
    return asyncio.run(judge_all(sorted(selected), embedded, native_kernel))


def markers(folder: Path) -> list[Path]:
    """Files outside the scratch folder that a case tries to leave behind."""
    names = expectation(folder).get("forbidden_marker", [])
    names = [names] if isinstance(names, str) else names
    return [Path(tempfile.gettempdir()) / Path(name).name for name in names]


@pytest.mark.parametrize("folder", FOLDERS, ids=[f"{f.parent.name}/{f.name}" for f in FOLDERS])
def test_case(folder: Path, reports: Reports) -> None:
    expected = expectation(folder)
    report = reports[folder]
    assert isinstance(report, Report), f"not judged: {report}"
    verdict = report.verdict
    told = json.dumps(report.to_json(), indent=1, ensure_ascii=False)[:6000]
    assert str(verdict.outcome) == expected["outcome"], told
    reasons = expected.get("reason")
    reasons = reasons if isinstance(reasons, list) else [reasons]
    assert (str(verdict.reason) if verdict.reason else None) in reasons, told
    if verdict.outcome is Outcome.ACCEPTED:
        for target in report.targets:
            assert target.kernels, told
    else:
        assert verdict.message, told
    for marker in markers(folder):
        assert not marker.exists(), f"{marker} was written from inside the sandbox"


def test_enough_cases() -> None:
    """At least 30 attacks, none of which may be accepted without a word why, and 15 honest ones."""
    attacks = [folder for folder in FOLDERS if folder.parent.name == "attacks"]
    honest = [folder for folder in FOLDERS if folder.parent.name == "honest"]
    assert len(attacks) >= 30
    assert len(honest) >= 15
    assert all(expectation(folder)["outcome"] == "accepted" for folder in honest)
    assert len({number for folder in attacks for number in expectation(folder)["classes"]}) >= 15
