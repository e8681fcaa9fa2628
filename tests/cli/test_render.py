"""What a report looks like on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from lemmata.cli.render import plain, print_report
from lemmata.judge import Finding, Reason, Report, TargetDecision
from lemmata.judge.produce import Message


def shown(report: Report) -> str:
    out = io.StringIO()
    print_report(report, Console(file=out, width=100, force_terminal=False))
    return out.getvalue()


def report(finding: Finding, message: str) -> Report:
    target = TargetDecision(("t\x1b[2K",), finding, frozenset(), False, {})
    error = Message("Solution", "error", 3, 4, "", message, False)
    return Report(finding.verdict, (target,), (), (), (), (), (error,))


def test_control_characters_cannot_rewrite_the_screen() -> None:
    evil = "\x1b[2J\x1b[1;1Haccepted\r\x9b2K\u202eold"
    finding = Finding(Reason.ILLEGAL_AXIOM, evil, chain=(("a",), (evil,)), expected=evil)
    text = shown(report(finding, evil))
    assert not {"\x1b", "\r", "\x9b", "\u202e"} & set(text)
    assert "\\u001b" in text


def test_plain_keeps_text() -> None:
    assert plain("∀ x, é\n𝔸 😀") == "∀ x, é\n𝔸 😀"


def test_long_messages_are_cut() -> None:
    text = shown(report(Finding(Reason.MISSING, "gone"), "line\n" * 50))
    assert text.count("line") < 12
    assert "…" in text
