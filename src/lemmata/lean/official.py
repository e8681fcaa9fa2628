"""Ask an official Lean on this machine what it is: version, prefix, elan and Lake settings.

Nothing here downloads a toolchain: elan's ``lean`` would fetch a missing one on being called,
so elan's own tables are read first and a missing toolchain is an error that names the command.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lemmata.errors import InputError, ToolchainError

LAKE_FILES = ("lakefile.toml", "lakefile.lean")
PASSED_ON = ("LEAN_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LEAN_SYSROOT")
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_VERSION = re.compile(r"Lean \(version (?P<number>[^\s,)]+)(?P<rest>[^)]*)\)")
_COMMIT = re.compile(r"\bcommit (?P<commit>[0-9a-f]{6,40})\b")
_ABSOLUTE = re.compile(r"""(?:^|[\s"'=:])(/[^\s"'=:;&|<>()$`]+)""")
_LARGEST_SCRIPT = 1 << 16


@dataclass(frozen=True)
class LeanVersion:
    """What ``lean --version`` says; ``commit`` and ``platform`` are empty where it is silent."""

    number: str
    platform: str
    commit: str

    @property
    def is_wasm(self) -> bool:
        """Whether it is a WebAssembly build, whatever starts it."""
        return self.platform.startswith("wasm")


def parse_version(output: str) -> LeanVersion | None:
    """Find the version in the output of ``lean --version``, among other lines if need be."""
    match = _VERSION.search(output)
    if match is None:
        return None
    fields = [field.strip() for field in match["rest"].split(",")]
    commit = _COMMIT.search(match["rest"])
    platform = next((f for f in fields if "-" in f and " " not in f), "")
    return LeanVersion(match["number"], platform, commit["commit"] if commit else "")


def ask_version(lean: Path, env: Mapping[str, str], cwd: Path, timeout: float) -> LeanVersion:
    """Run ``lean --version``.  Raises ``ToolchainError`` when it gives no version in time."""
    output = _run([str(lean), "--version"], env, cwd, timeout)
    version = parse_version(output)
    if version is None:
        said = " ".join(output.split())[:120] or "nothing"
        raise ToolchainError(
            f"{lean} does not behave like Lean: asked for --version it says {said!r}."
        )
    return version


def ask_prefix(lean: Path, env: Mapping[str, str], cwd: Path, timeout: float) -> Path | None:
    """The folder of the toolchain (with ``lib/lean`` in it), or None where there is none.

    A wrapper script may answer with a folder of its own world; only one that exists here and
    holds a library counts.
    """
    try:
        output = _run([str(lean), "--print-prefix"], env, cwd, timeout)
    except ToolchainError:
        return None
    lines = [line for line in output.splitlines() if line.startswith("/")]
    prefix = Path(lines[-1].strip()) if lines else None
    return prefix if prefix is not None and (prefix / "lib" / "lean").is_dir() else None


def base_environment(lean: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment for a Lean process: a short PATH, and what ``extra`` passes on."""
    folders = (str(lean.parent), *_SYSTEM_PATH)
    env = {"PATH": os.pathsep.join(dict.fromkeys(folders)), "LANG": "C.UTF-8"}
    env.update({key: extra[key] for key in PASSED_ON if extra.get(key)})
    return env


def readable_paths(lean: Path, prefix: Path | None, env: Mapping[str, str]) -> tuple[Path, ...]:
    """What a process started from ``lean`` must be able to read besides the system's files.

    For a script these are also the absolute paths it mentions: a wrapper names what it runs.
    """
    found = [lean, lean.resolve()]
    if prefix is not None:
        found += [prefix, prefix.resolve()]
    for key in ("LEAN_PATH", "LD_LIBRARY_PATH"):
        found += [Path(entry) for entry in env.get(key, "").split(os.pathsep) if entry]
    found += _mentioned(lean)
    kept = [path for path in found if path.exists() and not _too_wide(path)]
    return tuple(dict.fromkeys(kept))


def _mentioned(lean: Path) -> list[Path]:
    if not is_script(lean):
        return []
    text = lean.read_text(encoding="utf-8", errors="replace")
    return [Path(mentioned) for mentioned in _ABSOLUTE.findall(text.replace("#!", " "))]


def is_script(lean: Path) -> bool:
    """Whether ``lean`` is a text file that starts with ``#!``."""
    try:
        with lean.open("rb") as source:
            return source.read(2) == b"#!" and lean.stat().st_size <= _LARGEST_SCRIPT
    except OSError:
        return False


def _too_wide(path: Path) -> bool:
    """The root, a home folder or something above it must not become readable by mention."""
    home = Path.home()
    return (
        path in (Path("/"), home)
        or path in home.parents
        or path.parts[1:2]
        in (
            ("dev",),
            ("proc",),
            ("sys",),
        )
    )


def lake_environment(lake: Path, project: Path, timeout: float) -> dict[str, str]:
    """The environment that ``lake env`` sets in a Lake project.

    It runs the project's own lakefile, as every use of Lake does. Raises ``ToolchainError``.
    """
    script = "import json, os, sys; json.dump(dict(os.environ), sys.stdout)"
    command = [str(lake), "env", sys.executable, "-I", "-c", script]
    output = _run(command, dict(os.environ), project, timeout)
    try:
        values = json.loads(output[output.index("{") :])
    except ValueError as error:
        raise ToolchainError(
            f"lake env in {project} gives no environment; run it there to see why."
        ) from error
    return absolute_entries({str(key): str(value) for key, value in values.items()}, project)


def absolute_entries(settings: Mapping[str, str], base: Path) -> dict[str, str]:
    """``settings`` with every entry of its search paths made absolute, relative to ``base``.

    Lake writes some entries relative to the project; a worker runs elsewhere.
    """
    result = dict(settings)
    for key in ("LEAN_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        entries = [entry for entry in result.get(key, "").split(os.pathsep) if entry]
        if entries:
            result[key] = os.pathsep.join(str(base / entry) for entry in entries)
    return result


def _run(command: Sequence[str], env: Mapping[str, str], cwd: Path, timeout: float) -> str:
    shown = " ".join([command[0], *command[1:2]])
    try:
        answer = subprocess.run(
            list(command),
            env=dict(env),
            cwd=cwd,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolchainError(f"{shown} did not answer within {timeout:.0f} seconds.") from error
    except OSError as error:
        raise ToolchainError(f"{shown} cannot be started ({error.strerror}).") from error
    if answer.returncode != 0:
        lines = answer.stderr.strip().splitlines() or answer.stdout.strip().splitlines()
        said = f": {lines[-1][:200]}" if lines else ""
        raise ToolchainError(f"{shown} failed with exit code {answer.returncode}{said}.")
    return answer.stdout


def elan_home() -> Path:
    """Where elan keeps its things, present or not."""
    chosen = os.environ.get("ELAN_HOME")
    return Path(chosen).expanduser() if chosen else Path.home() / ".elan"


def is_elan_shim(executable: Path) -> bool:
    """Whether an executable is elan under another name."""
    return executable.resolve().stem in ("elan", "elan-init") or executable.parent == (
        elan_home() / "bin"
    )


def elan_toolchain(name: str) -> Path:
    """The folder of an installed elan toolchain.

    ``name`` is what ``elan toolchain list`` shows, or what a ``lean-toolchain`` file holds
    (``leanprover/lean4:v4.28.0``, ``v4.28.0``). Raises ``InputError`` when it is not installed.
    """
    folder = elan_home() / "toolchains"
    for candidate in _elan_folder_names(name):
        if (folder / candidate / "bin" / "lean").is_file():
            return folder / candidate
    raise InputError(
        f"the toolchain {name!r} is neither a file, a folder nor installed by elan; give a path "
        f"or run: elan toolchain install {name}."
    )


def _elan_folder_names(name: str) -> tuple[str, ...]:
    """elan writes ``/`` as ``--`` and ``:`` as ``---`` in folder names.

    The channel ``stable`` stands for the newest release that is installed.
    """
    if name in ("stable", "leanprover/lean4:stable"):
        return ("leanprover--lean4---stable", *_releases())
    if "/" not in name and ":" not in name:
        return (name, f"leanprover--lean4---{name}")
    if ":" not in name:
        return (name.replace("/", "--"),)
    return (name.replace(":", "---").replace("/", "--"),)


def _releases() -> tuple[str, ...]:
    """Folder names of the installed releases (no candidates), newest first."""
    found = []
    for folder in (elan_home() / "toolchains").glob("leanprover--lean4---v*"):
        numbers = folder.name.rpartition("---v")[2].split(".")
        if all(number.isdigit() for number in numbers):
            found.append((tuple(map(int, numbers)), folder.name))
    return tuple(name for _, name in sorted(found, reverse=True))


def elan_choice(project: Path) -> str | None:
    """The toolchain elan would use in ``project``, or None when it has no opinion.

    In elan's order: the variable ``ELAN_TOOLCHAIN``, an override for the folder or one above it,
    a ``lean-toolchain`` file there, the default.
    """
    chosen = os.environ.get("ELAN_TOOLCHAIN")
    if chosen:
        return chosen
    settings = _elan_settings()
    overrides = settings.get("overrides")
    for folder in (project, *project.parents):
        if isinstance(overrides, dict) and isinstance(overrides.get(str(folder)), str):
            return str(overrides[str(folder)])
        file = folder / "lean-toolchain"
        if file.is_file():
            return file.read_text(encoding="utf-8", errors="replace").strip()
    default = settings.get("default_toolchain")
    return default if isinstance(default, str) else None


def _elan_settings() -> dict[str, object]:
    try:
        return tomllib.loads((elan_home() / "settings.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def on_path(name: str, search: str | None = None) -> Path | None:
    """The executable ``name`` on PATH, else in elan's folder, else None."""
    found = shutil.which(name, path=search)
    if found:
        return Path(found).absolute()
    shim = elan_home() / "bin" / name
    return shim if shim.is_file() and os.access(shim, os.X_OK) else None


def content_digest(lean: Path, prefix: Path | None) -> str:
    """SHA-256 (hex) over the executable, its shared libraries, and the library's file list.

    The ``.olean`` files enter with their names and sizes only: hashing all of them would take
    longer than a judgement.
    """
    status = lean.stat()
    return _content_digest(lean, prefix, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=16)
def _content_digest(lean: Path, prefix: Path | None, _mtime_ns: int, _size: int) -> str:
    digest = hashlib.sha256()
    digest.update(_sha256(lean))
    if prefix is not None:
        binaries = {prefix / "bin" / "lean", *_shared_libraries(prefix)}
        for path in sorted(path for path in binaries if path.is_file()):
            digest.update(f"{path.relative_to(prefix)}\n".encode())
            digest.update(_sha256(path))
        for path in sorted((prefix / "lib" / "lean").rglob("*.olean")):
            digest.update(f"{path.relative_to(prefix)} {path.stat().st_size}\n".encode())
    return digest.hexdigest()


def _shared_libraries(prefix: Path) -> set[Path]:
    folders = (prefix / "lib" / "lean", prefix / "lib", prefix / "bin")
    return {
        path
        for folder in folders
        for pattern in ("libleanshared*", "libInit_shared*")
        for path in folder.glob(pattern)
    }


def _sha256(path: Path) -> bytes:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").digest()
