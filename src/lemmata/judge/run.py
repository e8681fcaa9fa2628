"""One judgement: the phases in order, and the report they add up to."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import lemmata
from lemmata.errors import ExportError, InputError, ToolchainError, WorkerError
from lemmata.export import Export, Name, format_name
from lemmata.judge.axioms import library_constants
from lemmata.judge.config import JudgeConfig
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
from lemmata.judge.faults import known_fault
from lemmata.judge.finding import Finding
from lemmata.judge.kernels import (
    Kernel,
    library_facts,
    library_part,
    replay,
    worker_reason,
    worker_words,
)
from lemmata.judge.options import SANDBOX, SINGLE_KERNEL
from lemmata.judge.processes import Elaborator, Processes
from lemmata.judge.produce import (
    Elaboration,
    Message,
    UnreadableExport,
    Unsupported,
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
)
from lemmata.judge.verdict import Outcome, Reason, Verdict, worst
from lemmata.lean.assumption import Assumption
from lemmata.lean.sandbox import LayerState, LayerStatus
from lemmata.lean.toolchain import LIBRARY_PROOFS


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


class Run:
    """One judgement from start to report."""

    def __init__(self, processes: Processes, config: JudgeConfig, project: Path) -> None:
        self.processes = processes
        self.toolchain = processes.toolchain
        self.options = processes.options
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
        elaborator = self.processes.solution(stack)
        kernels = list(self.processes.kernels)
        starting = [asyncio.ensure_future(kernel.worker.start()) for kernel in kernels]
        stack.push_async_callback(_settle, starting)

        async with asyncio.TaskGroup() as group:
            reference_task = group.create_task(
                _collected(self._reference(self.processes.reference))
            )
            solution_task = group.create_task(_collected(self._solution(elaborator)))
        reference_tree, reference = reference_task.result().value()
        layers = elaborator.worker.layers
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

    async def _reference(self, elaborator: Elaborator) -> tuple[SourceTree, Elaboration]:
        worker = elaborator.worker
        module = self.config.challenge_module
        try:
            with self.watch.phase("reference start"):
                await worker.start()
            with self.watch.phase("reference"):
                tree = await load_tree(self.project, module, partial(parse_header, worker))
                async with self.processes.reference_lock:
                    result = await self._elaborated(elaborator, tree)
        except SourceProblem as problem:
            raise InputError(f"the challenge cannot be used: {problem}") from None
        except WorkerError as error:
            raise ToolchainError(
                f"Lean failed while it elaborated the challenge: {worker_words(error)}"
            ) from None
        except Unsupported as error:
            raise InputError(f"the challenge cannot be used: {error}") from None
        except UnreadableExport as error:
            _must_elaborate(error.messages)
            raise ToolchainError(f"Lean exported the challenge wrongly: {error}") from None
        _must_elaborate(result.messages)
        try:
            check_reference(self.task, result.export)
        except ReferenceProblem as problem:
            raise InputError(str(problem)) from None
        return tree, result

    async def _solution(self, elaborator: Elaborator) -> tuple[SourceTree, Elaboration]:
        worker = elaborator.worker
        module = self.config.solution_module
        try:
            # Nothing untrusted has run in this process before its headers are parsed.
            with self.watch.phase("solution start"):
                await worker.start()
            with self.watch.phase("solution"):
                tree = await load_tree(self.project, module, partial(parse_header, worker))
                return tree, await self._elaborated(elaborator, tree)
        except SourceProblem as problem:
            raise _SolutionFailed(Reason.ELABORATION_ERROR, str(problem)) from None
        except Unsupported as error:
            raise _SolutionFailed(Reason.UNSUPPORTED, str(error)) from None
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

    async def _elaborated(self, elaborator: Elaborator, tree: SourceTree) -> Elaboration:
        limits = self.options.limits
        options = {} if limits.heartbeats is None else {"maxHeartbeats": limits.heartbeats}
        return await elaborate(elaborator.worker, tree, elaborator.scratch, options, limits.export)

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
            results = await self._kernel_results(solution, imports, kernels, targets)
        decisions = decide(self.task, solution, stated, audited, results)
        if len(kernels) == 1:
            return tuple(_doubted(solution, each, self.toolchain.version) for each in decisions)
        return decisions

    async def _kernel_results(
        self,
        solution: Export,
        imports: tuple[Name, ...],
        kernels: list[Kernel],
        targets: Sequence[Name],
    ) -> dict[str, list[DeclarationResult] | Finding]:
        try:
            export = replay_file(solution, targets)
        except ExportError as error:
            finding = Finding(
                Reason.MALFORMED_EXPORT, f"the solution's declarations have no order: {error}"
            )
            return {kernel.name: finding for kernel in kernels}
        answers = await asyncio.gather(
            self._replay(kernels[0], imports, export),
            *(
                self._replay_natively(kernel, kernels[0], imports, solution, targets, export)
                for kernel in kernels[1:]
            ),
        )
        return {kernel.name: answer for kernel, answer in zip(kernels, answers, strict=True)}

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
        assert self.processes.native is not None
        base = self.processes.native.manifest.imports
        if not self.processes.native.covers(imports):
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
                    SINGLE_KERNEL,
                    "only the toolchain's own kernel was asked: the official kernel is not "
                    "installed for its library",
                )
            )
        found += [
            Assumption(
                SANDBOX + layer.name,
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
                assert self.processes.native is not None
                digest = self.processes.native.digest
            tools.append(Tool(f"kernel {kernel.name}", kernel.description, digest))
        return tuple(tools)


def _doubted(solution: Export, decision: TargetDecision, version: str) -> TargetDecision:
    """An acceptance by one kernel alone counts only where that kernel is not known to fail."""
    if decision.finding is not None:
        return decision
    return replace(decision, finding=known_fault(solution, decision.target, version))


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
    the other, and none is wrapped: the challenge's errors are told first, whichever came first."""

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
    except Exception as error:
        return _Collected(None, error)


async def _settle(tasks: Sequence[asyncio.Future[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _merged(left: tuple[Name, ...], right: tuple[Name, ...]) -> tuple[Name, ...]:
    """The library a replay needs: all that either side imports, and always ``Init``, so that the
    kernel's primitives are the real ones even for a solution that declares itself a prelude."""
    return tuple(sorted({INIT, *left, *right}, key=format_name))
