"""A report for people."""

from __future__ import annotations

import unicodedata

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lemmata.export import format_name
from lemmata.judge import Finding, Outcome, Report, TargetDecision, target_verdict

_STYLES = {
    Outcome.ACCEPTED: "bold green",
    Outcome.REJECTED: "bold red",
    Outcome.UNDECIDED: "bold yellow",
}
_MAX_MESSAGES = 3
_MAX_LINES = 8


def plain(text: str) -> str:
    """Text of the solution's making, fit for a terminal: control and direction characters, which
    could rewrite what the screen shows, become visible escapes."""
    return "".join(
        char if char == "\n" or not _is_control(char) else f"\\u{ord(char):04x}" for char in text
    )


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs")


def print_report(report: Report, console: Console) -> None:
    """Print the outcome, why, what each target came to, and what it all rests on."""
    console.print(_headline(report))
    if len(report.targets) > 1 or report.outcome is Outcome.ACCEPTED:
        console.print(_targets(report))
    for target in report.targets:
        if target.finding is not None:
            details = _details(target.finding)
            if details is not None:
                console.print(details)
    errors = [message for message in report.messages if message.is_error]
    for message in errors[:_MAX_MESSAGES]:
        console.print(Text(f"  Lean: {_clip(str(message))}", style="dim"))
    for assumption in report.assumptions:
        console.print(Text(f"  assumes ({assumption.code}): {assumption.text}", style="dim"))
    for note in report.notes:
        console.print(Text(f"  note: {note}", style="dim"))
    console.print(Text(f"  {report.seconds.get('total', 0.0):.1f} s", style="dim"))


def _headline(report: Report) -> Text:
    verdict = report.verdict
    text = Text(str(verdict.outcome), style=_STYLES[verdict.outcome])
    if verdict.reason is not None:
        text.append(f" ({verdict.reason}): {plain(verdict.message)}", style="default")
    return text


def _targets(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for column in ("target", "outcome", "axioms", "kernels"):
        table.add_column(column, overflow="fold")
    for target in report.targets:
        verdict = target_verdict(target)
        table.add_row(
            plain(format_name(target.target)),
            Text(str(verdict.reason or verdict.outcome), style=_STYLES[verdict.outcome]),
            _axioms(target),
            _kernels(target),
        )
    return table


def _axioms(target: TargetDecision) -> str:
    names = sorted(plain(format_name(name)) for name in target.axioms)
    if target.rests_on_hidden_proofs:
        names.append("those of unshipped library proofs")
    return ", ".join(names) or "none"


def _kernels(target: TargetDecision) -> str:
    if not target.kernels:
        return "not asked"
    return ", ".join(
        f"{kernel}: {'accepts' if finding is None else finding.reason}"
        for kernel, finding in target.kernels.items()
    )


def _details(finding: Finding) -> RenderableType | None:
    rows: list[RenderableType] = []
    if len(finding.chain) > 1:
        rows.append(Text("by way of  " + plain(" → ".join(map(format_name, finding.chain)))))
    if finding.expected or finding.found:
        rows.append(Text(f"at         {plain(' / '.join(finding.path)) or 'the top'}"))
        rows.append(Text(f"challenge  {_clip(finding.expected)}"))
        rows.append(Text(f"solution   {_clip(finding.found)}"))
    return Panel(Group(*rows), expand=False, border_style="dim") if rows else None


def _clip(text: str) -> str:
    lines = plain(text).split("\n")
    kept = "\n".join(lines[:_MAX_LINES])
    return kept if len(lines) <= _MAX_LINES else kept + "\n…"
