"""Every error Lemmata raises on purpose.

LemmataError
├── InputError          what the user gave cannot be used (file, config, module, option)
├── ToolchainError      no usable Lean, or one that does not answer as it must
│   └── InstallError    fetching, unpacking or pinning a toolchain failed
├── ExportError         an export file is not what format 3.1.0 allows (carries the line)
├── SandboxError        a required sandbox layer is missing or failed
└── WorkerError         a Lean process did not answer (see ``lemmata.lean.worker``)

The text of each is one sentence: what was wrong, where, and what to do. The command line prints
it without a traceback and exits with 2.
"""

from __future__ import annotations


class LemmataError(Exception):
    """Base of all errors raised on purpose; ``str(error)`` is fit for a user."""


class InputError(LemmataError):
    """Something the user supplied cannot be used."""


class ToolchainError(LemmataError):
    """No usable Lean toolchain, or one that misbehaves."""


class InstallError(ToolchainError):
    """A toolchain could not be fetched, checked, unpacked or pinned."""


class ExportError(LemmataError):
    """An export is malformed.

    ``line`` is the 1-based line of the file, or 0 when no single line is to blame.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


class SandboxError(LemmataError):
    """A sandbox layer that was required is not available or could not be applied."""


class WorkerError(LemmataError):
    """A worker process did not produce a reply."""
