"""The judge: challenge against solution, with real Lean processes.

The reference is elaborated in one process, the solution in another, and the declarations are
re-checked in kernel processes that never elaborate anything. The decision itself is made in
``lemmata.judge.decide`` on data alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self

import lemmata
from lemmata.errors import ExportError, InputError, LemmataError, ToolchainError, WorkerError
from lemmata.export import Export, Name, ReadLimits, format_name
from lemmata.judge.axioms import library_constants
from lemmata.judge.config import JudgeConfig, load_config
from lemmata.judge.decide import (
    ReferenceProblem,
    TargetDecision,
    Task,
    audits,
    check_reference,
    decide,
    library_names,
    statements,
    worth_replaying,
)
from lemmata.judge.finding import Finding
from lemmata.judge.kernels import (
    Kernel,
    library_facts,
    library_part,
    replay,
    worker_reason,
    worker_words,
)
from lemmata.judge.produce import (
    Elaboration,
    Message,
    UnreadableExport,
    elaborate,
    parse_header,
)
from lemmata.judge.replay import DeclarationResult, replay_file, replay_file_over
from lemmata.judge.report import InputFile, Report, Tool, target_verdict
from lemmata.judge.sources import (
    INIT,
    SourceProblem,
    SourceTree,
    load_tree,
    module_path,
)
from lemmata.judge.verdict import Outcome, Reason, Verdict, worst
from lemmata.lean.assumption import Assumption
from lemmata.lean.kernels import NativeKernel
from lemmata.lean.launch import Launch
from lemmata.lean.sandbox import LayerState, LayerStatus, Policy, confine
from lemmata.lean.toolchain import LIBRARY_PROOFS, Toolchain
from lemmata.lean.worker import Call, Limits, Worker

GIB = 1 << 30


@dataclass(frozen=True)
class JudgeLimits:
    """Bounds on one judgement. Times in seconds of wall clock per process and phase; memory in
    bytes per process; ``heartbeats`` in Lean's unit (thousands of small allocations), for the
    elaborator, ``None`` for Lean's own default; ``kernel_heartbeats`` 0 for none."""

    wall_s: float = 300.0
    memory_bytes: int = 3 * GIB
    heartbeats: int | None = None
    kernel_heartbeats: int = 0
    printed_bytes: int = 64 * 1024
    export: ReadLimits = field(default_factory=lambda: ReadLimits(max_bytes=GIB // 4))


@dataclass(frozen=True)
class JudgeOptions:
    """How to judge: limits, sandbox, and the assumption codes under which no verdict is wanted."""

    limits: JudgeLimits = field(default_factory=JudgeLimits)
    policy: Policy = field(default_factory=Policy)
    forbidden_assumptions: frozenset[str] = frozenset()


class _SolutionFailed(Exception):
    """The solution handed over no usable declarations; the reason holds for every target."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Stopwatch:
    """Wall seconds per phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


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
        self.toolchain = toolchain
        self.native = native
        self.options = options or JudgeOptions()
        self._stack = AsyncExitStack()
        # Judgements side by side share the challenge's elaborator and the file it exports to.
        self._reference_lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._scratch = stack.enter_context(_scratch_folder())
            self._reference, self._reference_scratch = self._elaborator(stack, "reference")
            scratch = self._folder("kernel")
            worker = self._worker(stack, self.toolchain.worker(scratch), "kernel")
            description = f"the kernel of Lean {self.toolchain.version}"
            self._kernel = Kernel("lean", description, worker, scratch)
            self._native_kernel: Kernel | None = None
            if self.native is not None:
                scratch = self._folder("native")
                worker = self._worker(stack, self.native.launch(scratch), "kernel")
                self._native_kernel = Kernel("native", self.native.description, worker, scratch)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def judge(self, config: JudgeConfig, project: Path, config_file: Path) -> Report:
        """Judge one solution.

        ``project`` is the folder modules are resolved in, ``config_file`` what the report names as
        the config. Raises :class:`InputError` if the challenge or the config cannot be used,
        :class:`ToolchainError` if Lean does not start and :class:`SandboxError` if a required layer
        is missing; everything that is the solution's doing ends in the report. Judgements may
        run side by side; warm processes serve them in turn.
        """
        for module in (config.challenge_module, config.solution_module):
            path = module_path(project, module)
            if not path.is_file():
                raise InputError(f"{path}: there is no such file; the config names this module")
        start = time.perf_counter()
        run = _Run(self, config, project)
        async with AsyncExitStack() as stack:
            report = await run.report(stack, config_file)
        run.watch.seconds["total"] = time.perf_counter() - start
        return report

    def _folder(self, name: str) -> Path:
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._scratch))

    def _elaborator(self, stack: AsyncExitStack, name: str) -> tuple[Worker, Path]:
        scratch = self._folder(name)
        return self._worker(stack, self.toolchain.worker(scratch), "elaborator"), scratch

    def _worker(self, stack: AsyncExitStack, launch: Launch, role: str) -> Worker:
        limits = self.options.limits
        worker = Worker(
            confine(launch, self.options.policy),
            Limits(
                wall_s=limits.wall_s,
                memory_bytes=limits.memory_bytes,
                printed_bytes=limits.printed_bytes,
            ),
            greeting=(Call("hello", {"role": role}),),
        )
        stack.push_async_callback(worker.close)
        return worker


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


class _Run:
    """One judgement from start to report."""

    def __init__(self, judge: Judge, config: JudgeConfig, project: Path) -> None:
        self.host = judge
        self.toolchain = judge.toolchain
        self.options = judge.options
        self.config = config
        self.project = project
        self.task = Task(
            config.theorem_names, config.definition_names, frozenset(config.permitted_axioms)
        )
        self.watch = Stopwatch()
        self.notes = [
            f"the config key {key!r} is not known and was ignored" for key in config.unknown_keys
        ]

    async def report(self, stack: AsyncExitStack, config_file: Path) -> Report:
        host = self.host
        worker, scratch = host._elaborator(stack, "solution")
        stack.callback(_remove, scratch)
        kernels = [each for each in (host._kernel, host._native_kernel) if each is not None]
        starting = [asyncio.ensure_future(kernel.worker.start()) for kernel in kernels]
        stack.push_async_callback(_settle, starting)

        async with asyncio.TaskGroup() as group:
            reference_task = group.create_task(
                _collected(self._reference(host._reference, host._reference_scratch))
            )
            solution_task = group.create_task(_collected(self._solution(worker, scratch)))
        reference_tree, reference = reference_task.result().value()
        layers = worker.layers
        solution_tree: SourceTree | None = None
        solution: Elaboration | None = None
        try:
            solution_tree, solution = solution_task.result().value()
        except _SolutionFailed as failure:
            finding = Finding(failure.reason, str(failure))
            decisions = tuple(
                TargetDecision(name, finding, frozenset(), False, {}) for name in self.task.targets
            )
            kernels = []
        else:
            imports = _merged(reference_tree.imports, solution_tree.imports)
            decisions = await self._decide(reference.export, solution.export, imports, kernels)
            decisions = tuple(_blame_elaboration(each, solution.errors) for each in decisions)

        assumptions = self._assumptions(decisions, layers, kernels)
        return Report(
            verdict=self._verdict(decisions, solution, assumptions),
            targets=decisions,
            inputs=self._inputs(config_file, reference_tree, solution_tree),
            tools=self._tools(kernels),
            assumptions=assumptions,
            layers=layers,
            messages=solution.messages if solution else (),
            printed=solution.printed if solution else "",
            notes=tuple(self.notes),
            seconds=self.watch.seconds,
            lemmata_version=lemmata.__version__,
        )

    # Phases.

    async def _reference(self, worker: Worker, scratch: Path) -> tuple[SourceTree, Elaboration]:
        module = self.config.challenge_module
        try:
            with self.watch.phase("reference start"):
                await worker.start()
            with self.watch.phase("reference"):
                tree = await load_tree(self.project, module, partial(parse_header, worker))
                async with self.host._reference_lock:
                    result = await self._elaborated(worker, tree, scratch)
        except SourceProblem as problem:
            raise InputError(f"the challenge cannot be used: {problem}") from None
        except WorkerError as error:
            raise ToolchainError(
                f"Lean failed while it elaborated the challenge: {worker_words(error)}"
            ) from None
        except UnreadableExport as error:
            _must_elaborate(error.messages)
            raise ToolchainError(f"Lean exported the challenge wrongly: {error}") from None
        _must_elaborate(result.messages)
        try:
            check_reference(self.task, result.export)
        except ReferenceProblem as problem:
            raise InputError(str(problem)) from None
        return tree, result

    async def _solution(self, worker: Worker, scratch: Path) -> tuple[SourceTree, Elaboration]:
        module = self.config.solution_module
        try:
            # Nothing untrusted has run in this process before its headers are parsed.
            with self.watch.phase("solution start"):
                await worker.start()
            with self.watch.phase("solution"):
                tree = await load_tree(self.project, module, partial(parse_header, worker))
                return tree, await self._elaborated(worker, tree, scratch)
        except SourceProblem as problem:
            raise _SolutionFailed(Reason.ELABORATION_ERROR, str(problem)) from None
        except UnreadableExport as error:
            for message in error.messages:
                if message.is_error:
                    raise _SolutionFailed(
                        Reason.ELABORATION_ERROR, f"the solution does not elaborate: {message}"
                    ) from None
            raise _SolutionFailed(
                Reason.MALFORMED_EXPORT, f"the solution's declarations cannot be read: {error}"
            ) from None
        except WorkerError as error:
            raise _SolutionFailed(
                worker_reason(error),
                f"the solution's elaboration did not finish: {worker_words(error)}",
            ) from None
        finally:
            await worker.close()

    async def _elaborated(self, worker: Worker, tree: SourceTree, scratch: Path) -> Elaboration:
        limits = self.options.limits
        options = {} if limits.heartbeats is None else {"maxHeartbeats": limits.heartbeats}
        return await elaborate(worker, tree, scratch, options, limits.export)

    async def _decide(
        self,
        reference: Export,
        solution: Export,
        imports: tuple[Name, ...],
        kernels: list[Kernel],
    ) -> tuple[TargetDecision, ...]:
        with self.watch.phase("compare"):
            stated = statements(self.task, reference, solution)
            names = library_names(self.task, solution)
        try:
            with self.watch.phase("axioms"):
                facts = await library_facts(kernels[0], imports, names)
        except WorkerError as error:
            raise ToolchainError(f"the Lean kernel process failed: {worker_words(error)}") from None
        audited = audits(self.task, reference, solution, facts)
        targets = worth_replaying(self.task, stated, audited)
        results: dict[str, list[DeclarationResult] | Finding] = {}
        if targets:
            export = replay_file(solution, targets)
            answers = await asyncio.gather(
                self._replay(kernels[0], imports, export),
                *(
                    self._replay_natively(kernel, kernels[0], imports, solution, targets, export)
                    for kernel in kernels[1:]
                ),
            )
            results = {kernel.name: answer for kernel, answer in zip(kernels, answers, strict=True)}
        return decide(self.task, solution, stated, audited, results)

    async def _replay_natively(
        self,
        native: Kernel,
        lean: Kernel,
        imports: tuple[Name, ...],
        solution: Export,
        targets: Sequence[Name],
        export: bytes,
    ) -> list[DeclarationResult] | Finding:
        """Ask the native kernel, whose base may be a part of the library only.

        The rest of what the targets need of it is then sent along, as the Lean kernel process
        knows it. That no name of the whole library is declared anew, Lean's own kernel sees to.
        """
        assert self.host.native is not None
        base = self.host.native.manifest.imports
        if not self.host.native.covers(imports):
            names = library_constants(solution, targets)
            try:
                with self.watch.phase("library"):
                    library = await library_part(lean, imports, names, base)
            except (WorkerError, ExportError) as error:
                return Finding(
                    Reason.TOOL_FAILURE,
                    f"the library could not be prepared for the native kernel: {error}",
                )
            try:
                export = replay_file_over(library, solution, targets)
            except ExportError as error:
                return Finding(Reason.REDEFINED, f"the solution redefines the library: {error}")
        return await self._replay(native, base, export)

    async def _replay(
        self, kernel: Kernel, imports: tuple[Name, ...], export: bytes
    ) -> list[DeclarationResult] | Finding:
        with self.watch.phase(f"kernel {kernel.name}"):
            return await replay(kernel, imports, export, self.options.limits.kernel_heartbeats)

    # The report.

    def _assumptions(
        self,
        decisions: tuple[TargetDecision, ...],
        layers: tuple[LayerStatus, ...],
        kernels: Sequence[Kernel],
    ) -> tuple[Assumption, ...]:
        hidden = any(decision.rests_on_hidden_proofs for decision in decisions)
        found = [
            assumption
            for assumption in self.toolchain.assumptions()
            if assumption != LIBRARY_PROOFS or hidden
        ]
        if len(kernels) == 1:
            found.append(
                Assumption(
                    "single_kernel",
                    "only the toolchain's own kernel was asked: the official kernel is not "
                    "installed for its library",
                )
            )
        found += [
            Assumption(
                f"sandbox_{layer.name}",
                f"the solution ran without the sandbox layer {layer.name}: {layer.detail}",
            )
            for layer in layers
            if layer.state is not LayerState.APPLIED
        ]
        return tuple(found)

    def _verdict(
        self,
        decisions: tuple[TargetDecision, ...],
        solution: Elaboration | None,
        assumptions: tuple[Assumption, ...],
    ) -> Verdict:
        verdict = worst(target_verdict(decision) for decision in decisions)
        if verdict.outcome is not Outcome.REJECTED and solution and solution.errors:
            # The module as a whole must build, as the Comparator asks. This can only reject.
            return Verdict(
                Reason.ELABORATION_ERROR, f"the solution does not elaborate: {solution.errors[0]}"
            )
        if verdict.outcome is Outcome.ACCEPTED:
            for assumption in assumptions:
                if assumption.code in self.options.forbidden_assumptions:
                    return Verdict(
                        Reason.ASSUMPTION_FORBIDDEN,
                        f"the verdict would rest on a forbidden assumption: {assumption.text}",
                    )
        return verdict

    def _inputs(
        self, config_file: Path, reference: SourceTree, solution: SourceTree | None
    ) -> tuple[InputFile, ...]:
        files = [
            InputFile(
                "config", str(config_file), hashlib.sha256(config_file.read_bytes()).hexdigest()
            )
        ]
        for role, tree in (("challenge", reference), ("solution", solution)):
            for source in tree.modules if tree else ():
                files.append(InputFile(role, str(source.path), source.sha256))
        return tuple(files)

    def _tools(self, kernels: list[Kernel]) -> tuple[Tool, ...]:
        tools = [Tool("toolchain", self.toolchain.describe(), self.toolchain.digest)]
        for kernel in kernels:
            digest = self.toolchain.digest
            if kernel.name == "native":
                assert self.host.native is not None
                digest = self.host.native.digest
            tools.append(Tool(f"kernel {kernel.name}", kernel.description, digest))
        return tuple(tools)


def _blame_elaboration(decision: TargetDecision, errors: Sequence[Message]) -> TargetDecision:
    """Where the elaborator says why a target is missing or unfinished, that is the better answer:
    error recovery leaves a hole that nobody wrote. It is a rejection either way."""
    finding = decision.finding
    if finding is None or not errors or finding.reason not in (Reason.MISSING, Reason.USES_SORRY):
        return decision
    message = f"{finding.message}; the solution does not elaborate: {errors[0]}"
    return replace(
        decision, finding=replace(finding, reason=Reason.ELABORATION_ERROR, message=message)
    )


def _must_elaborate(messages: Sequence[Message]) -> None:
    for message in messages:
        if message.is_error:
            raise InputError(f"the challenge does not elaborate: {message}")


@dataclass(frozen=True)
class _Collected:
    """The result of a phase or the error it ended with, so that one phase's error does not cancel
    the other: the challenge's errors are told first, whichever came first."""

    result: tuple[SourceTree, Elaboration] | None
    error: Exception | None

    def value(self) -> tuple[SourceTree, Elaboration]:
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


async def _collected(phase: Awaitable[tuple[SourceTree, Elaboration]]) -> _Collected:
    try:
        return _Collected(await phase, None)
    except (LemmataError, _SolutionFailed) as error:
        return _Collected(None, error)


async def _settle(tasks: Sequence[asyncio.Future[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _merged(left: tuple[Name, ...], right: tuple[Name, ...]) -> tuple[Name, ...]:
    """The library a replay needs: all that either side imports, and always ``Init``, so that the
    kernel's primitives are the real ones even for a solution that declares itself a prelude."""
    return tuple(sorted({INIT, *left, *right}, key=format_name))


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="lemmata-judge-"))
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, onerror=_make_removable)


def _make_removable(function: Callable[..., object], path: str, _: object) -> None:
    """Untrusted code may have taken away its own permissions; a second try after giving them."""
    with contextlib.suppress(OSError):
        Path(path).parent.chmod(0o700)
        Path(path).chmod(0o700)
        function(path)
