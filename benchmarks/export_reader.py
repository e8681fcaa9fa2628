"""Reading an export: lines per second, and bytes held per expression node.

    python benchmarks/export_reader.py [FILE...]

Without a file, one is made: a million nodes (six in ten applications, as in Lean's library; the
rest binders, constants and bound variables), in theorems of some hundred nodes.
Speed is the best of three readings. Bytes are what Python's allocator holds after reading, and at
most while reading, over the number of nodes; names and declarations are included.
"""

from __future__ import annotations

import io
import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from lemmata.export import (
    Declaration,
    Export,
    Name,
    TermsBuilder,
    Theorem,
    closure,
    digest,
    read_export,
    write_export,
)

NODES = 1_000_000
READINGS = 3


def made(nodes: int) -> bytes:
    """A file of about so many nodes, the same on every run."""
    source = random.Random(1)
    build = TermsBuilder()
    u = build.level_param("u")
    constants: list[Name] = [("Library", f"part{i % 97}", f"fact{i}") for i in range(20_000)]
    variables: list[Name] = [(name,) for name in ("x", "y", "h", "α", "motive", "inst")]
    closed = [build.const("Nat"), build.type()]
    theorems: list[Declaration] = []
    while len(build.terms) < nodes * 1.1:  # Parts that nothing uses are not written.
        pool = [*source.choices(closed, k=4), *map(build.bvar, range(6))]
        for _ in range(150):
            left, right = source.choices(pool[-40:], k=2)
            match source.choices(("app", "const", "lam", "forall"), (60, 15, 12, 13))[0]:
                case "app":
                    pool.append(build.app(left, right))
                case "const":
                    levels = source.choice([(), (u,), (0, u)])
                    pool.append(build.const(source.choice(constants), levels))
                case "lam":
                    pool.append(build.lam(source.choice(variables), left, right))
                case _:
                    pool.append(build.forall(source.choice(variables), left, right))
        value = build.app(*pool[-60:])
        while build.terms.loose_bvar_range(value):
            value = build.lam(source.choice(variables), closed[0], value)
        name: Name = ("Made", f"theorem{len(theorems)}")
        theorems.append(Theorem(name, (("u",),), source.choice(closed), value, (name,)))
        closed.append(value)
    return written(Export(build.terms, tuple(theorems)))


def written(export: Export) -> bytes:
    out = io.BytesIO()
    write_export(export, out)
    return out.getvalue()


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def measure(title: str, data: bytes) -> None:
    lines = data.count(b"\n")
    reading = min(seconds(lambda: read_export(data)) for _ in range(READINGS))
    tracemalloc.start()
    export = read_export(data)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    nodes, names = len(export.terms), list(export.constants)
    writing = seconds(lambda: written(export))
    walking = seconds(lambda: closure(export, names))
    hashing = seconds(lambda: [digest(export, name) for name in names])
    print(
        f"{title}: {len(data):,} bytes, {lines:,} lines, {nodes:,} nodes,"
        f" {len(export.declarations):,} declarations\n"
        f"  read {lines / reading:,.0f} lines/s ({reading:.2f} s),"
        f" {held / nodes:.0f} bytes held per node, {peak / nodes:.0f} at most\n"
        f"  write {lines / writing:,.0f} lines/s ({writing:.2f} s),"
        f" closure {walking:.2f} s, digests {hashing:.2f} s"
    )


def main() -> None:
    if len(sys.argv) > 1:
        for path in map(Path, sys.argv[1:]):
            measure(path.name, path.read_bytes())
    else:
        measure("made", made(NODES))


if __name__ == "__main__":
    main()
