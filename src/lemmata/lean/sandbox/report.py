"""What the helper says about the start of a program: one JSON object per line."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lemmata.errors import SandboxError
from lemmata.lean.sandbox.policy import LayerState, LayerStatus, remedy


@dataclass(frozen=True)
class StartReport:
    """How a start went.

    ``layers`` are in the order of application. ``error`` is empty when the program was executed;
    ``exit_code`` is then ``None``, else what the helper ends with, where it is known.
    """

    layers: tuple[LayerStatus, ...]
    error: str
    exit_code: int | None

    @classmethod
    def parse(cls, text: bytes) -> StartReport:
        """Read the whole report; raises ``SandboxError`` when a required layer is missing."""
        layers: tuple[LayerStatus, ...] = ()
        error = "" if text else "the helper ended before it started the program"
        exit_code = None
        for line in text.splitlines():
            message = json.loads(line)
            if "layers" in message:
                layers = tuple(
                    LayerStatus(name, LayerState(state), detail)
                    for name, state, detail in message["layers"]
                )
            if "missing" in message:
                how = remedy(tuple(message["missing"]))
                raise SandboxError(f"{message['error']}; {how}, or do not require the sandbox")
            if "error" in message:
                error = message["error"]
                exit_code = message.get("exec")
        return cls(layers, error, exit_code)
