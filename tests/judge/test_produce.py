"""Replies of an untrusted process: understood exactly, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lemmata.judge.produce import UnexpectedReply, _messages, _seconds

GOOD: dict[str, Any] = {
    "module": ["Solution"],
    "severity": "error",
    "pos": [1, 2],
    "end": None,
    "kind": "",
    "text": "no",
    "compile_only": False,
}


def test_a_message() -> None:
    (message,) = _messages([GOOD])
    assert str(message) == "Solution:1:2: no"
    assert message.is_error


@pytest.mark.parametrize(
    "changes",
    [
        {"pos": [json.loads("1e999"), 0]},
        {"pos": [10**4000, 0]},
        {"pos": [-1, 0]},
        {"pos": [True, 0]},
        {"pos": [1]},
        {"pos": None},
        {"module": [1.5]},
        {"module": None},
        {"module": [-1]},
        {"text": 3},
        {"compile_only": "no"},
        {"severity": None},
    ],
)
def test_forged_messages_are_not_understood(changes: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedReply):
        _messages([GOOD, {**GOOD, **changes}])


@pytest.mark.parametrize("value", [None, "text", {}, 3, [GOOD] * 5001, ["x"], [[]]])
def test_forged_lists_are_not_understood(value: Any) -> None:
    with pytest.raises(UnexpectedReply):
        _messages(value)


def test_lone_surrogates_become_text() -> None:
    (message,) = _messages([{**GOOD, "text": "\ud800", "kind": "\udfff"}])
    assert message.text == "\\ud800"
    assert json.dumps(message.kind, ensure_ascii=False).encode()


def test_times() -> None:
    forged = {"a": 1500, "b": 10**400, "c": float("inf"), "d": -1, "e": "1", "f": True}
    assert _seconds(forged) == {"a": 1.5}
    assert _seconds([1]) == {}
