"""What an installation tells the person who waits for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


class Meter(Protocol):
    """Progress of one long step, in bytes or items."""

    def at(self, done: int) -> None:
        """``done`` of the total have been reached; it may go back when a step starts over."""


class Reporter(Protocol):
    """Receives the steps of an installation in order."""

    def note(self, text: str) -> None:
        """One line about what happens next."""

    def warn(self, text: str) -> None:
        """One line about something that did not work and does not stop the rest."""

    def meter(self, text: str, total: int) -> contextlib.AbstractContextManager[Meter]:
        """A step of ``total`` bytes."""


class _NoMeter:
    def at(self, done: int) -> None:
        pass


class Silent:
    """Says nothing."""

    def note(self, text: str) -> None:
        pass

    def warn(self, text: str) -> None:
        pass

    @contextlib.contextmanager
    def meter(self, text: str, total: int) -> Iterator[Meter]:
        yield _NoMeter()


class _LineMeter:
    """Prints a line at each tenth of the way."""

    def __init__(self, console: Console, text: str, total: int) -> None:
        self._console = console
        self._text = text
        self._total = max(total, 1)
        self._tenth = 0

    def at(self, done: int) -> None:
        tenth = min(done * 10 // self._total, 10)
        if tenth > self._tenth:
            self._console.print(
                f"{self._text}: {tenth * 10} % of {self._total / 1e6:.0f} MB",
                highlight=False,
                markup=False,
            )
        self._tenth = tenth


class _BarMeter:
    def __init__(self, progress: Progress, text: str, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task(text, total=total)

    def at(self, done: int) -> None:
        self._progress.update(self._task, completed=done)


class ConsoleReporter:
    """Writes to a rich console: a progress bar on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)

    def warn(self, text: str) -> None:
        self._console.print(f"warning: {text}", highlight=False, markup=False)

    @contextlib.contextmanager
    def meter(self, text: str, total: int) -> Iterator[Meter]:
        if not self._console.is_terminal:
            yield _LineMeter(self._console, text, total)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self._console) as progress:
            yield _BarMeter(progress, text, total)
