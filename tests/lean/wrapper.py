"""A script named ``lean`` around the embedded Lean: an ordinary native toolchain to all others."""

from __future__ import annotations

from pathlib import Path

from lemmata.lean.toolchain import EmbeddedToolchain

_PLACE = Path("/scratch-of-the-caller")


def write_wrapper(folder: Path, toolchain: EmbeddedToolchain) -> Path:
    """Write ``folder/lean``; it works in the folder it is called in, like the real one."""
    launch = toolchain.lean((), _PLACE)
    words = " ".join(_quoted(word) for word in launch.argv)
    settings = [f"export {key}={_quoted(value)}" for key, value in launch.env.items()]
    script = folder / "lean"
    script.write_text("\n".join(["#!/bin/sh", *settings, f'exec {words} "$@"', ""]))
    script.chmod(0o755)
    return script


def _quoted(word: str) -> str:
    escaped = "".join("\\" + char if char in '\\"$`' else char for char in word)
    return '"' + escaped.replace(str(_PLACE), "$(pwd -P)") + '"'
