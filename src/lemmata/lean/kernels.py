"""The official Lean kernel as a process beside the toolchain's own."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import lemmata
from lemmata.export import Name
from lemmata.lean.launch import Launch
from lemmata.lean.native.base import BaseManifest, read_manifest
from lemmata.lean.native.ffi import library_path
from lemmata.lean.toolchain import Toolchain


@dataclass(frozen=True)
class NativeKernel:
    """The native kernel process over one base: a library as checked constants, in ``base``."""

    base: Path
    manifest: BaseManifest

    @property
    def description(self) -> str:
        return f"official Lean {self.manifest.lean} kernel, native"

    @property
    def digest(self) -> str:
        """Over the kernel's library and the base it starts from."""
        parts = (self.manifest.library_sha256, self.manifest.image_sha256)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def covers(self, imports: tuple[Name, ...]) -> bool:
        """Whether the base is exactly the library that these modules make up."""
        return set(imports) == set(self.manifest.imports)

    def launch(self, scratch: Path) -> Launch:
        """The kernel process (``python -m lemmata.lean.native``), working in ``scratch``."""
        paths = {
            Path(sys.prefix),
            Path(sys.base_prefix),
            Path(sysconfig.get_path("stdlib")),
            # Python lists the folder a package lies in before it looks into the package.
            Path(lemmata.__file__).parents[1],
            library_path().parent,
            self.base,
        }
        return Launch(
            (sys.executable, "-P", "-m", "lemmata.lean.native", str(self.base)),
            {"UV_USE_IO_URING": "0", "PYTHONDONTWRITEBYTECODE": "1", "LC_CTYPE": "C.UTF-8"},
            scratch,
            readable=tuple(sorted(paths)),
        )


def find_native_kernel(toolchain: Toolchain) -> NativeKernel | None:
    """The native kernel for a toolchain's library, or ``None`` where it is not installed or no
    base has been made of that library."""
    base = toolchain.kernel_base()
    return None if base is None else NativeKernel(base, read_manifest(base))
