"""Requests with known answers that a restored worker must give before its snapshot counts.

Among them a theorem that is false: a worker that accepts everything is worse than none.
"""

from __future__ import annotations

import json
from typing import Any

from lemmata.lean.embedded.snapshot import KnownAnswer

_TRUE = """
theorem sum_comm (a b : Nat) : a + b = b + a := by omega
theorem length_two (a b : Nat) : [a, b].length = 2 := by simp
inductive Tree where
  | leaf
  | node (left right : Tree)
def Tree.size : Tree → Nat
  | leaf => 1
  | node left right => left.size + right.size
theorem two : (Tree.node .leaf .leaf).size = 2 := rfl
#eval (Tree.node .leaf .leaf).size
"""
_FALSE = "theorem wrong (a b : Nat) : a + b = a * b := by omega\n"


def _request(number: int, **fields: Any) -> str:
    return json.dumps({"id": number, "frame": f"{number:032x}", **fields})


def _elaborate(number: int, text: str) -> str:
    module = {"module": ["Trial"], "text": text}
    return _request(
        number,
        op="elaborate",
        imports=[["Init"]],
        modules=[module],
        options={"maxHeartbeats": 200000},
        export=f"trial{number}.ndjson",
    )


def _reply(number: int, line: str) -> dict[str, Any]:
    """The reply to request ``number``; empty when ``line`` is not one or reports a failure."""
    frame, _, text = line.partition(" ")
    try:
        reply: Any = json.loads(text)
    except ValueError:
        return {}
    if frame != f"{number:032x}" or not isinstance(reply, dict):
        return {}
    return reply if reply.get("id") == number and reply.get("ok") is True else {}


def _severities(number: int, line: str) -> set[str] | None:
    messages = _reply(number, line).get("messages")
    return None if messages is None else {message["severity"] for message in messages}


KNOWN_ANSWERS: tuple[KnownAnswer, ...] = (
    KnownAnswer(
        _request(1, op="hello", role="elaborator"),
        lambda line: _reply(1, line).get("protocol") == 1,
    ),
    KnownAnswer(_elaborate(2, _TRUE), lambda line: _severities(2, line) == {"information"}),
    KnownAnswer(_elaborate(3, _FALSE), lambda line: "error" in (_severities(3, line) or set())),
    KnownAnswer(_elaborate(4, _TRUE), lambda line: _severities(4, line) == {"information"}),
)
