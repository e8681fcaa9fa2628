"""From a module name to the source texts it consists of.

A module is resolved by path below the project folder (``A.B`` is ``A/B.lean``); what is not there
is taken to be a library module. Imports are read by Lean's own header parser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lemmata.errors import InputError
from lemmata.export import Name, format_name

INIT: Name = ("Init",)


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a header; ``found`` tells whether the toolchain's library has the module."""

    module: Name
    found: bool


@dataclass(frozen=True, slots=True)
class Header:
    """A parsed header. ``error`` is Lean's message (with position) if it does not parse."""

    imports: tuple[Import, ...]
    prelude: bool
    error: str | None


ParseHeader = Callable[[str], Awaitable[Header]]


@dataclass(frozen=True, slots=True)
class SourceModule:
    """One local module; ``sha256`` is over the bytes of its file."""

    name: Name
    path: Path
    text: str
    sha256: str


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A module with all its local imports in dependency order (itself last), and the library
    modules they import."""

    modules: tuple[SourceModule, ...]
    imports: tuple[Name, ...]


class SourceProblem(Exception):
    """A source text cannot be used. Whose fault that is (the user's or the prover's) is for the
    caller to say; the text is one sentence."""


def module_path(project: Path, module: Name) -> Path:
    """Where a module's text lies. Raises :class:`InputError` for a name that is no path."""
    parts = [str(component) for component in module]
    for part in parts:
        if part in ("", ".", "..") or "/" in part or "\\" in part or "\0" in part:
            raise InputError(f"{format_name(module)} cannot be the name of a module file")
    return project.joinpath(*parts).with_name(parts[-1] + ".lean")


async def load_tree(project: Path, module: Name, parse_header: ParseHeader) -> SourceTree:
    """Read a module and its local imports.

    Raises :class:`InputError` if the module's own file is missing or cannot be read, and
    :class:`SourceProblem` for everything that is wrong inside the texts.
    """
    root = module_path(project, module)
    if not root.is_file():
        raise InputError(
            f"{root}: there is no such file, so the module {format_name(module)} cannot be judged"
        )
    ordered: list[SourceModule] = []
    library: set[Name] = set()
    done: set[Name] = set()
    open_: list[Name] = []

    async def visit(name: Name, path: Path) -> None:
        if name in open_:
            circle = " → ".join(format_name(each) for each in (*open_[open_.index(name) :], name))
            raise SourceProblem(f"the imports go round in a circle: {circle}")
        if name in done:
            return
        open_.append(name)
        source = _read(name, path)
        header = await parse_header(source.text)
        if header.error is not None:
            raise SourceProblem(f"{path.name}: the header does not parse: {header.error}")
        if not header.prelude:
            library.add(INIT)
        for imported in header.imports:
            local = module_path(project, imported.module)
            if local.is_file():
                await visit(imported.module, local)
            elif imported.found:
                library.add(imported.module)
            else:
                raise SourceProblem(
                    f"{path.name}: imports {format_name(imported.module)}, which is neither a file "
                    "of the project nor a module of the toolchain's library"
                )
        open_.pop()
        done.add(name)
        ordered.append(source)

    await visit(module, root)
    return SourceTree(tuple(ordered), tuple(sorted(library, key=format_name)))


def _read(name: Name, path: Path) -> SourceModule:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        # Lean reads files so, too; a carriage return by itself stays an error.
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SourceProblem(f"{path.name}: is not UTF-8 (byte {error.start})") from None
    return SourceModule(name, path, text, hashlib.sha256(data).hexdigest())
