"""The judge: challenge against solution, with real Lean processes.

The reference is elaborated in one process, the solution in another, and the declarations are
re-checked in kernel processes that never elaborate anything. The decision itself is made in
``lemmata.judge.decide`` on data alone.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from lemmata.judge.config import JudgeConfig, load_config
from lemmata.judge.options import JudgeOptions
from lemmata.judge.processes import Processes
from lemmata.judge.report import Report
from lemmata.judge.run import Run
from lemmata.judge.sources import module_file
from lemmata.lean.kernels import NativeKernel
from lemmata.lean.toolchain import Toolchain


class Judge:
    """Judges solutions with one toolchain; use it as an asynchronous context manager.

    Three processes stay warm between judgements because none of them ever sees a solution's text:
    the elaborator of challenges, the toolchain's kernel, and the official kernel ``native`` as a
    second opinion (without it the report says that one kernel alone was asked). Every solution is
    elaborated in a process of its own, which ends with it.
    """

    def __init__(
        self,
        toolchain: Toolchain,
        native: NativeKernel | None,
        options: JudgeOptions | None = None,
    ) -> None:
        self._processes = Processes(toolchain, native, options or JudgeOptions())

    async def __aenter__(self) -> Self:
        await self._processes.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._processes.__aexit__(*error)

    async def judge(self, config: JudgeConfig, project: Path, config_file: Path) -> Report:
        """Judge one solution.

        ``project`` is the folder modules are resolved in, ``config_file`` what the report names as
        the config. Raises :class:`InputError` if the challenge or the config cannot be used,
        :class:`ToolchainError` if Lean does not start and :class:`SandboxError` if a required layer
        is missing; everything that is the solution's doing ends in the report. Judgements may
        run side by side; warm processes serve them in turn.
        """
        for module in (config.challenge_module, config.solution_module):
            module_file(project, module)
        start = time.perf_counter()
        run = Run(self._processes, config, project)
        async with AsyncExitStack() as stack:
            report = await run.report(stack, config_file)
        run.watch.seconds["total"] = time.perf_counter() - start
        return report


def judge_files(
    config_file: Path,
    toolchain: Toolchain,
    native: NativeKernel | None,
    options: JudgeOptions | None = None,
    project: Path | None = None,
) -> Report:
    """Read a config file and judge what it names: the synchronous form for scripts."""
    config = load_config(config_file)
    folder = project or config_file.absolute().parent

    async def judged() -> Report:
        async with Judge(toolchain, native, options) as judge:
            return await judge.judge(config, folder, config_file)

    return asyncio.run(judged())
