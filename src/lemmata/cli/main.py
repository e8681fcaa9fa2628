"""The ``lemmata`` command.

Exit codes: 0 accepted or success, 1 rejected, 2 could not decide or could not start.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer
from rich.console import Console

import lemmata
from lemmata.cli import doctor, judge, toolchain
from lemmata.errors import LemmataError

app = typer.Typer(
    name="lemmata",
    help="Decide whether a Lean 4 proof is real.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
app.command("judge")(judge.judge)
app.command("doctor")(doctor.doctor)
app.add_typer(toolchain.app, name="toolchain")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lemmata {lemmata.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Decide whether a Lean 4 proof is real."""


def main() -> None:
    """Run the command line; an error made on purpose is one sentence and exit code 2."""
    # Being asked to end is an interrupt like any other: what was begun is cleared away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except LemmataError as error:
        Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(
            f"lemmata: {error}"
        )
        sys.exit(2)
    except Exception as error:
        # A fault of ours must not look like a rejection, which is exit code 1.
        if os.environ.get("LEMMATA_DEBUG"):
            raise
        print(
            f"lemmata: internal error ({type(error).__name__}: {error}); this is a fault of "
            "Lemmata, please report it (LEMMATA_DEBUG=1 shows where)",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:
        print("lemmata: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
