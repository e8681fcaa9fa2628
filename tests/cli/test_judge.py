"""``lemmata judge`` as a program: exit codes, one clear sentence, the JSON report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lemmata.lean.toolchain import EmbeddedToolchain

CHALLENGE = "theorem target (a b : Nat) : a + b = b + a := sorry\n"
HONEST = "theorem target (a b : Nat) : a + b = b + a := Nat.add_comm a b\n"
CONFIG = {
    "challenge_module": "Challenge",
    "solution_module": "Solution",
    "theorem_names": ["target"],
    "permitted_axioms": ["propext", "Quot.sound", "Classical.choice"],
}


def lemmata(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lemmata.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, challenge=CHALLENGE, solution=HONEST)
    return tmp_path


def write(
    folder: Path, *, challenge: str = CHALLENGE, solution: str = HONEST, **changes: object
) -> Path:
    (folder / "Challenge.lean").write_text(challenge)
    (folder / "Solution.lean").write_text(solution)
    config = folder / "config.json"
    config.write_text(json.dumps({**CONFIG, **changes}))
    return config


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The complaint of a run that could not start."""
    assert result.returncode == 2, result
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("lemmata: ")
    return lines[0]


class TestWithoutLean:
    """Mistakes that are told before Lean is started, or even looked for."""

    def test_missing_config(self, tmp_path: Path) -> None:
        assert "there is no such file" in one_sentence(lemmata("judge", tmp_path / "c.json"))

    def test_config_that_is_not_json(self, folder: Path) -> None:
        (folder / "config.json").write_text("{")
        assert "is not JSON (line 1" in one_sentence(lemmata("judge", folder / "config.json"))

    def test_empty_list(self, folder: Path) -> None:
        config = write(folder, theorem_names=[])
        assert "theorem_names is empty" in one_sentence(lemmata("judge", config))

    def test_assumption_that_does_not_exist(self, folder: Path) -> None:
        result = lemmata("judge", folder / "config.json", "--forbid", "comunity_build")
        assert "there is no assumption 'comunity_build'" in one_sentence(result)

    def test_timeout_that_is_no_time(self, folder: Path) -> None:
        result = lemmata("judge", folder / "config.json", "--timeout", "inf")
        assert "--timeout must be a number of seconds" in one_sentence(result)

    def test_module_name_too_long_for_a_file(self, folder: Path) -> None:
        config = write(folder, solution_module="a" * 300)
        assert "there is no such file" in one_sentence(lemmata("judge", config))

    def test_a_fault_of_ours_is_no_rejection(self, folder: Path) -> None:
        """A fault put in on purpose: one sentence, and not the exit code of a rejection."""
        code = (
            "import lemmata.cli.judge as judge, lemmata.cli.main as main, sys\n"
            "judge.find_toolchain = None\n"
            f"sys.argv = ['lemmata', 'judge', {str(folder / 'config.json')!r}]\n"
            "main.main()\n"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert "internal error (TypeError" in one_sentence(result)

    def test_version_and_help(self) -> None:
        assert lemmata("--version").stdout.startswith("lemmata ")
        assert "--require-sandbox" in lemmata("judge", "--help").stdout


class TestWithLean:
    def test_accepted(self, embedded: EmbeddedToolchain, folder: Path) -> None:
        result = lemmata("judge", folder / "config.json", "--json", "--require-sandbox")
        assert result.returncode == 0, result
        report = json.loads(result.stdout)
        assert report["schema"] == "lemmata.judge/1"
        assert report["outcome"] == "accepted"
        assert report["reason"] is None
        (target,) = report["targets"]
        assert target["name"] == ["target"]
        assert target["kernels"] == {"lean": "accepted", "native": "accepted"}
        assert {tool["role"] for tool in report["tools"]} == {
            "toolchain",
            "kernel lean",
            "kernel native",
        }
        assert all(len(file["sha256"]) == 64 for file in report["inputs"])
        assert {file["role"] for file in report["inputs"]} == {"config", "challenge", "solution"}
        assert all(layer["state"] in ("applied", "unavailable") for layer in report["sandbox"])
        assert report["seconds"]["total"] > 0

    def test_forbidden_assumption(self, embedded: EmbeddedToolchain, folder: Path) -> None:
        result = lemmata("judge", folder / "config.json", "--forbid", "community_build")
        assert result.returncode == 2, result
        assert "undecided (assumption_forbidden)" in result.stdout

    def test_rejected(self, embedded: EmbeddedToolchain, folder: Path) -> None:
        config = write(folder, solution="theorem target (a : Nat) : a = a := rfl\n")
        result = lemmata("judge", config)
        assert result.returncode == 1, result
        assert result.stdout.startswith("rejected (statement_mismatch): ")
        assert "challenge" in result.stdout

    def test_solution_that_does_not_parse(self, embedded: EmbeddedToolchain, folder: Path) -> None:
        config = write(folder, solution="theorem target (a b : Nat := \n")
        result = lemmata("judge", config)
        assert result.returncode == 1, result
        assert result.stdout.startswith("rejected (elaboration_error): ")
        assert "Solution:2:0" in result.stdout

    def test_timeout_is_undecided(self, embedded: EmbeddedToolchain, folder: Path) -> None:
        loop = "partial def spin (n : Nat) : Nat := spin (n + 1)\n#eval spin 0\n"
        config = write(folder, solution=HONEST + loop)
        result = lemmata("judge", config, "--timeout", "5")
        assert result.returncode == 2, result
        assert result.stdout.startswith("undecided (timeout): ")

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"theorem_names": ["targe"]}, "declares no theorem targe; did you mean target?"),
            ({"theorem_names": ["target", "Nat.add_comm"]}, "declares no theorem Nat.add_comm"),
            (
                {"challenge": "theorem target : :=\n"},
                "does not elaborate: Challenge:1",
            ),
            ({"challenge": "import Nowhere\n"}, "imports Nowhere, which is neither"),
            ({"challenge": "def target := 1\n"}, "declares it with the kind definition"),
        ],
    )
    def test_challenge_that_cannot_be_used(
        self, embedded: EmbeddedToolchain, folder: Path, changes: dict[str, str], words: str
    ) -> None:
        config = write(folder, **changes)  # type: ignore[arg-type]
        assert words in one_sentence(lemmata("judge", config))

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_interrupted(
        self,
        embedded: EmbeddedToolchain,
        folder: Path,
        tmp_path_factory: pytest.TempPathFactory,
        number: int,
    ) -> None:
        """Nothing is left: no process, no folder."""
        config = write(folder, solution="#eval (IO.sleep 60000 : IO Unit)\n" + HONEST)
        temporary = tmp_path_factory.mktemp("temporary")
        process = subprocess.Popen(
            [sys.executable, "-m", "lemmata.cli.main", "judge", config],
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        family = psutil.Process(process.pid)
        deadline = time.monotonic() + 60
        while len(children := family.children(recursive=True)) < 3 and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert len(list(temporary.iterdir())) == 1
        process.send_signal(number)
        assert process.wait(timeout=60) == 130
        _, alive = psutil.wait_procs(children, timeout=10)
        assert alive == []
        assert list(temporary.iterdir()) == []

    def test_missing_module(self, embedded: EmbeddedToolchain, folder: Path) -> None:
        config = write(folder, solution_module="Other.Solution")
        assert "Other/Solution.lean: there is no such file" in one_sentence(
            lemmata("judge", config)
        )
