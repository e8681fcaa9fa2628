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


def module_file(project: Path, module: Name) -> Path:
    """The file of a module that the user names. Raises :class:`InputError` if there is none."""
    path = module_path(project, module)
    if not _is_file(path):
        raise InputError(
            f"{path}: there is no such file, so the module {format_name(module)} cannot be judged"
        )
    return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or not to be expressed
        return False


async def load_tree(project: Path, module: Name, parse_header: ParseHeader) -> SourceTree:
    """Read a module and its local imports.

    Raises :class:`InputError` if the module's own file is missing or cannot be read, and
    :class:`SourceProblem` for everything that is wrong inside the texts.
    """
    root = module_file(project, module)
    ordered: list[SourceModule] = []
    library: set[Name] = set()
    done: set[Name] = set()
    # The modules that are being visited, each with the local imports still to come.
    path: list[tuple[SourceModule, list[tuple[Name, Path]]]] = []

    async def enter(name: Name, file: Path, text: bytes) -> None:
        source = _decoded(name, file, text)
        header = await parse_header(source.text)
        if header.error is not None:
            raise SourceProblem(f"{file.name}: the header does not parse: {header.error}")
        if not header.prelude:
            library.add(INIT)
        local: list[tuple[Name, Path]] = []
        for imported in header.imports:
            found = _local(project, file, imported.module)
            if found is not None:
                local.append((imported.module, found))
            elif imported.found:
                library.add(imported.module)
            else:
                raise SourceProblem(
                    f"{file.name}: imports {format_name(imported.module)}, which is neither a file "
                    "of the project nor a module of the toolchain's library"
                )
        path.append((source, local[::-1]))

    try:
        await enter(module, root, root.read_bytes())
    except OSError as error:
        raise InputError(f"{root}: cannot be read ({error.strerror})") from None
    while path:
        source, waiting = path[-1]
        if not waiting:
            path.pop()
            done.add(source.name)
            ordered.append(source)
            continue
        name, file = waiting.pop()
        names = [visited.name for visited, _ in path]
        if name in names:
            circle = " → ".join(map(format_name, (*names[names.index(name) :], name)))
            raise SourceProblem(f"the imports go round in a circle: {circle}")
        if name not in done:
            try:
                text = file.read_bytes()
            except OSError as error:
                raise SourceProblem(f"{file.name}: cannot be read ({error.strerror})") from None
            await enter(name, file, text)
    return SourceTree(tuple(ordered), tuple(sorted(library, key=format_name)))


def _local(project: Path, importer: Path, module: Name) -> Path | None:
    """The file of an imported module, if the project has one."""
    try:
        path = module_path(project, module)
    except InputError as error:
        raise SourceProblem(f"{importer.name}: {error}") from None
    return path if _is_file(path) else None


def _decoded(name: Name, path: Path, data: bytes) -> SourceModule:
    try:
        # Lean reads files so, too; a carriage return by itself stays an error.
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SourceProblem(f"{path.name}: is not UTF-8 (byte {error.start})") from None
    return SourceModule(name, path, text, hashlib.sha256(data).hexdigest())
