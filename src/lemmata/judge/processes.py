"""The Lean processes of a judge: which there are, and how long they live."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from lemmata.judge.kernels import Kernel
from lemmata.judge.options import JudgeOptions
from lemmata.lean.kernels import NativeKernel
from lemmata.lean.launch import Launch
from lemmata.lean.sandbox import confine
from lemmata.lean.toolchain import Toolchain
from lemmata.lean.worker import Call, Limits, Worker


@dataclass(frozen=True)
class Elaborator:
    """An elaborating process and the folder it works in."""

    worker: Worker
    scratch: Path


class Processes:
    """The processes that stay warm between judgements, because none of them ever sees a solution's
    text: the elaborator of challenges and the kernels (the toolchain's first, then the official
    one, if there is one). An asynchronous context manager; they start when first needed.

    Judgements side by side share ``reference`` and hold ``reference_lock`` while it elaborates.
    """

    reference: Elaborator
    kernels: tuple[Kernel, ...]

    def __init__(
        self, toolchain: Toolchain, native: NativeKernel | None, options: JudgeOptions
    ) -> None:
        self.toolchain = toolchain
        self.native = native
        self.options = options
        self.reference_lock = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._scratch = stack.enter_context(_scratch_folder())
            self.reference = self._elaborator(stack, "reference")
            kernels = [
                self._kernel(
                    stack,
                    "lean",
                    f"the kernel of Lean {self.toolchain.version}",
                    self.toolchain.worker,
                )
            ]
            if self.native is not None:
                kernels.append(
                    self._kernel(stack, "native", self.native.description, self.native.launch)
                )
            self.kernels = tuple(kernels)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    def solution(self, stack: AsyncExitStack) -> Elaborator:
        """A process for one solution, which ends, with all it left behind, when ``stack`` does."""
        elaborator = self._elaborator(stack, "solution")
        stack.callback(_remove, elaborator.scratch)
        return elaborator

    def _folder(self, name: str) -> Path:
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._scratch))

    def _elaborator(self, stack: AsyncExitStack, name: str) -> Elaborator:
        scratch = self._folder(name)
        return Elaborator(
            self._worker(stack, self.toolchain.worker(scratch), "elaborator"), scratch
        )

    def _kernel(
        self,
        stack: AsyncExitStack,
        name: str,
        description: str,
        launch: Callable[[Path], Launch],
    ) -> Kernel:
        scratch = self._folder(name)
        return Kernel(name, description, self._worker(stack, launch(scratch), "kernel"), scratch)

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
