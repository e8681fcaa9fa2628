"""Judge the four examples and show what the judge says of each.

Ends with exit code 1 if a verdict is not the one the example is there to show.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lemmata.cli.render import plain
from lemmata.errors import LemmataError
from lemmata.judge import Judge, Outcome, Reason, load_config
from lemmata.lean.embedded.report import ConsoleReporter
from lemmata.lean.kernels import find_native_kernel
from lemmata.lean.toolchain import find_toolchain

EXAMPLES = {
    "honest": ("a real proof", None),
    "unfinished": ("a proof with a gap", Reason.USES_SORRY),
    "wrong-statement": ("a proof of something easier", Reason.STATEMENT_MISMATCH),
    "cheating": ("code that slips a false proof past Lean", Reason.KERNEL_REJECTED),
}
COLOURS = {Outcome.ACCEPTED: "green", Outcome.REJECTED: "red", Outcome.UNDECIDED: "yellow"}


async def main() -> int:
    console = Console()
    folder = Path(__file__).parent
    toolchain = find_toolchain(None, folder, reporter=ConsoleReporter())
    native = find_native_kernel(toolchain)
    console.print(f"Judging {len(EXAMPLES)} solutions of one challenge", style="bold")
    console.print(toolchain.describe(), style="dim", highlight=False)
    table = Table(title="Is this proof real?", title_justify="left", header_style="bold")
    for column in ("solution", "what it is", "verdict", "why", "seconds"):
        table.add_column(column, overflow="fold")
    as_expected = True
    async with Judge(toolchain, native) as judge:
        for name, (about, expected) in EXAMPLES.items():
            config = folder / name / "config.json"
            with console.status(f"judging {name}"):
                report = await judge.judge(load_config(config), config.parent, config)
            verdict = report.verdict
            as_expected = as_expected and verdict.reason == expected
            table.add_row(
                name,
                about,
                Text(str(verdict.outcome), style=COLOURS[verdict.outcome]),
                Text(
                    plain(verdict.message) or "statement, axioms and every step of the proof hold"
                ),
                f"{report.seconds['total']:.1f}",
            )
    console.print(table)
    console.print("Next: lemmata judge examples/cheating/config.json", style="dim")
    return 0 if as_expected else 1


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except LemmataError as error:
        sys.exit(f"demo: {error}")
