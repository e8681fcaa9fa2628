"""``lemmata judge``: the main job."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lemmata.cli.render import print_report
from lemmata.errors import InputError
from lemmata.judge import JudgeLimits, JudgeOptions, Outcome, judge_files, load_config
from lemmata.judge.sources import module_file
from lemmata.lean.embedded.report import ConsoleReporter
from lemmata.lean.kernels import find_native_kernel
from lemmata.lean.sandbox import Policy, Requirement
from lemmata.lean.toolchain import find_toolchain

EXIT_CODES = {Outcome.ACCEPTED: 0, Outcome.REJECTED: 1, Outcome.UNDECIDED: 2}


def judge(
    config: Annotated[Path, typer.Argument(help="The config file (JSON, the Comparator's keys).")],
    project: Annotated[
        Path | None,
        typer.Option(help="The folder modules are looked up in; default: the config's folder."),
    ] = None,
    toolchain: Annotated[
        str | None,
        typer.Option(help="embedded, native, an elan toolchain, or the path of a lean."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    require_sandbox: Annotated[
        bool,
        typer.Option("--require-sandbox", help="Do not run unless the sandbox is complete."),
    ] = False,
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Do not accept under this assumption. Repeatable."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Wall limit in seconds for each process and phase.")
    ] = 300.0,
    memory: Annotated[int, typer.Option(min=256, help="Memory limit per process in MiB.")] = 3072,
    heartbeats: Annotated[
        int | None, typer.Option(min=0, help="maxHeartbeats for elaboration; 0 for no limit.")
    ] = None,
) -> None:
    """Judge a solution against its challenge.

    Exit code 0: accepted. 1: rejected. 2: could not decide, or could not start.
    """
    if not math.isfinite(timeout):
        raise InputError("--timeout must be a number of seconds")
    # Mistakes are told before a toolchain is looked for or installed.
    wanted = load_config(config)
    folder = project or config.absolute().parent
    for module in (wanted.challenge_module, wanted.solution_module):
        module_file(folder, module)
    requirement = Requirement.REQUIRED if require_sandbox else Requirement.BEST_EFFORT
    options = JudgeOptions(
        JudgeLimits(wall_s=timeout, memory_bytes=memory << 20, heartbeats=heartbeats),
        Policy(requirement=requirement),
        frozenset(forbid or ()),
    )
    chosen = find_toolchain(toolchain, folder, reporter=ConsoleReporter())
    report = judge_files(config, chosen, find_native_kernel(chosen), options, project)
    if as_json:
        text = json.dumps(report.to_json(), indent=2, ensure_ascii=False)
        # A lone surrogate, which no encoding has, becomes the JSON escape it came from.
        typer.echo(text.encode("utf-8", "backslashreplace"))
    else:
        print_report(report, Console(highlight=False, soft_wrap=True))
    raise typer.Exit(EXIT_CODES[report.outcome])
