"""The Lean side of the workers: one elaborator and one kernel process serve all of these tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lemmata.errors import ToolchainError
from lemmata.export import Export, Name, read_export
from lemmata.judge.replay import replay_file
from lemmata.lean.programs import worker_source
from lemmata.lean.toolchain import EmbeddedToolchain
from lemmata.lean.worker import Call, Limits, Worker, WorkerRefused

INIT: list[list[str]] = [["Init"]]
WITH_LEAN: list[list[str]] = [["Init"], ["Lean"]]


@dataclass
class Process:
    """A worker driven from synchronous tests; its files lie in ``scratch``."""

    worker: Worker
    runner: asyncio.Runner
    scratch: Path

    def request(self, op: str, **fields: Any) -> dict[str, Any]:
        return self.runner.run(self.worker.request(op, **fields)).fields


@dataclass
class Elaborated:
    messages: list[dict[str, Any]]
    reply: dict[str, Any]
    export_file: Path

    @property
    def export(self) -> Export:
        return read_export(self.export_file)

    def texts(self, severity: str) -> list[str]:
        return [each["text"] for each in self.messages if each["severity"] == severity]

    @property
    def errors(self) -> list[str]:
        return self.texts("error")


@dataclass
class Elaborator(Process):
    def elaborate(
        self,
        *texts: str,
        imports: Sequence[Sequence[str]] = INIT,
        options: dict[str, object] | None = None,
    ) -> Elaborated:
        """Elaborate ``texts`` as the modules ``M0``, ``M1`` and so on."""
        reply = self.request(
            "elaborate",
            imports=imports,
            modules=[{"module": [f"M{i}"], "text": text} for i, text in enumerate(texts)],
            options=options or {},
            export="out.ndjson",
        )
        return Elaborated(reply["messages"], reply, self.scratch / "out.ndjson")


@dataclass
class Kernel(Process):
    def replay(
        self, content: bytes, *, imports: Sequence[Sequence[str]] = INIT, heartbeats: int = 0
    ) -> list[dict[str, Any]]:
        (self.scratch / "delta.ndjson").write_bytes(content)
        reply = self.request(
            "replay",
            imports=imports,
            file="delta.ndjson",
            maxHeartbeats=heartbeats,
            maxRecDepth=0,
        )
        results: list[dict[str, Any]] = reply["results"]
        return results


def started(
    kind: type[Elaborator] | type[Kernel], role: str, toolchain: EmbeddedToolchain, scratch: Path
) -> Iterator[Any]:
    with asyncio.Runner() as runner:
        greeting = (Call("hello", {"role": role}),)
        worker = Worker(toolchain.worker(scratch), Limits(wall_s=120.0), greeting=greeting)
        yield kind(worker, runner, scratch)
        runner.run(worker.close())


@pytest.fixture(scope="module")
def elaborator(
    embedded: EmbeddedToolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Elaborator]:
    yield from started(Elaborator, "elaborator", embedded, tmp_path_factory.mktemp("elaborator"))


@pytest.fixture(scope="module")
def kernel(
    embedded: EmbeddedToolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kernel]:
    yield from started(Kernel, "kernel", embedded, tmp_path_factory.mktemp("kernel"))


def in_order(export: Export) -> bytes:
    """All of an export, dependencies first, as kernels are given it."""
    return replay_file(export, [name for each in export.declarations for name in each.names()])


def outcomes(results: list[dict[str, Any]]) -> dict[Name, tuple[str, str]]:
    return {
        tuple(name): (each["outcome"], each["reason"]) for each in results for name in each["names"]
    }


# The program text.


def test_a_version_gets_the_newest_layer_that_is_not_newer() -> None:
    assert worker_source("4.28.0-pre") == worker_source("4.35.0")
    assert "def main (args" in worker_source("4.28.0")


@pytest.mark.parametrize("version", ["4.2.0", "nightly"])
def test_a_version_without_a_layer_is_refused(version: str) -> None:
    with pytest.raises(ToolchainError):
        worker_source(version)


# Requests.


@pytest.mark.parametrize(
    ("op", "fields", "why"),
    [
        ("nonsense", {}, "unknown op"),
        ("replay", {}, "does not answer"),
        ("hello", {"role": "kernel"}, "already is"),
        ("elaborate", {}, "no field"),
        ("elaborate", {"imports": "Init"}, "array"),
    ],
)
def test_a_request_that_cannot_be_served_is_refused(
    elaborator: Elaborator, op: str, fields: dict[str, Any], why: str
) -> None:
    with pytest.raises(WorkerRefused, match=why):
        elaborator.request(op, **fields)


def test_an_unknown_library_is_refused(elaborator: Elaborator) -> None:
    with pytest.raises(WorkerRefused, match="Nowhere"):
        elaborator.elaborate("", imports=[["Nowhere"]])


def test_two_modules_of_one_name_are_refused(elaborator: Elaborator) -> None:
    modules = [{"module": ["M"], "text": ""}] * 2
    with pytest.raises(WorkerRefused, match="given twice"):
        elaborator.request("elaborate", imports=INIT, modules=modules, export="out.ndjson")


def test_header(elaborator: Elaborator) -> None:
    text = (
        "module\npublic import Lean\nimport all Init.Data.List\nmeta import Nowhere.X\ndef x := 1"
    )
    reply = elaborator.request("header", text=text)
    assert (reply["module"], reply["prelude"], reply["error"]) == (True, False, None)
    assert reply["imports"] == [
        {"module": ["Lean"], "all": False, "meta": False, "found": True},
        {"module": ["Init", "Data", "List"], "all": True, "meta": False, "found": True},
        {"module": ["Nowhere", "X"], "all": False, "meta": True, "found": False},
    ]


def test_a_broken_header_tells_where(elaborator: Elaborator) -> None:
    reply = elaborator.request("header", text="prelude\n/- é -/ import 1\n")
    assert reply["prelude"] and reply["imports"] == []
    assert reply["error"]["pos"] == [2, 14]


# Messages.


def test_positions_count_codepoints(elaborator: Elaborator) -> None:
    done = elaborator.elaborate("theorem 𝔸é : True := by\n  /- 𝔸 -/ exact 𝔹\n")
    (message,) = done.messages
    assert (message["pos"], message["end"]) == ([2, 16], [2, 17])
    assert message["module"] == ["M0"]
    assert "𝔹" in message["text"]


def test_messages_come_in_source_order(elaborator: Elaborator) -> None:
    text = (
        '#eval 1\ntheorem a : 1 = 2 := by omega\n#check (\n#eval "x"\ntheorem b : False := sorry\n'
    )
    done = elaborator.elaborate(text, "#eval 2")
    assert [each["pos"][0] for each in done.messages] == [1, 2, 3, 4, 5, 1]
    assert [each["module"] for each in done.messages] == [["M0"]] * 5 + [["M1"]]
    assert done.messages[4]["kind"] == "hasSorry"


def test_long_and_many_messages_are_bounded(elaborator: Elaborator) -> None:
    text = (
        'run_cmd Lean.logInfo (String.join (List.replicate 30000 "x"))\n'
        'run_cmd for _ in [0:2500] do Lean.logInfo "y"\n'
    )
    done = elaborator.elaborate(text, imports=WITH_LEAN)
    assert len(done.messages) == 1000
    assert done.reply["messages_dropped"] == 1501
    assert 20000 <= len(done.messages[0]["text"]) < 20100


def test_options_hold_for_every_module_and_set_option_does_not(elaborator: Elaborator) -> None:
    texts = ("set_option pp.explicit true\n#check (1 : Nat)", "#check (1 : Nat)")
    assert elaborator.elaborate(*texts).texts("information") == [
        "@OfNat.ofNat Nat (nat_lit 1) (instOfNatNat (nat_lit 1)) : Nat",
        "1 : Nat",
    ]
    shown = elaborator.elaborate(*texts, options={"pp.explicit": True})
    assert len(set(shown.texts("information"))) == 1


def test_heartbeats_are_an_option(elaborator: Elaborator) -> None:
    text = "theorem a (x y z : Nat) (h : x < y) (k : y < z) : x + 1 < z := by omega"
    assert elaborator.elaborate(text).errors == []
    (error,) = elaborator.elaborate(text, options={"maxHeartbeats": 1}).errors
    assert "maximum number of heartbeats" in error


# Modules.

LEAKY = """
universe u
variable (n : Nat)
section unfinished
set_option autoImplicit false
attribute [local simp] Nat.add_comm
namespace A
scoped notation "scc" => (7 : Nat)
local notation "loc" => (8 : Nat)
local instance li : Inhabited Nat := ⟨42⟩
instance gl : Add String := ⟨String.append⟩
open List
private def hidden := 1
def k := hidden
"""


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("#check n", False),
        ("#check (Type u)", False),
        ("theorem t (x : α) : x = x := rfl", True),
        ("#check loc", False),
        ("#check scc", False),
        ("#check length", False),
        ("#check k", False),
        ("#check A.hidden", False),
        ("example : (default : Nat) = 42 := rfl", False),
        ("example (a b : Nat) : a + b = b + a := by simp only []", False),
        ("end", False),
        ("#check A.k", True),
        ("open A\n#check scc", True),
        ('#eval "a" + "b"', True),
    ],
)
def test_only_global_things_reach_the_next_module(
    elaborator: Elaborator, text: str, works: bool
) -> None:
    done = elaborator.elaborate(LEAKY, text)
    assert [each for each in done.messages if each["module"] == ["M0"]] == []
    assert (done.errors == []) == works


def test_private_constants_of_one_name_are_refused_together(elaborator: Elaborator) -> None:
    texts = ["private theorem p : True := ⟨⟩\ntheorem a := p", "private theorem p : True := ⟨⟩"]
    told = elaborator.elaborate(*texts).reply["unsupported"]
    assert "constant p and it is private" in told
    assert elaborator.elaborate(texts[1], "theorem p' : True := ⟨⟩").errors == []


def test_nothing_crowds_an_error_out(elaborator: Elaborator) -> None:
    many = 'open Lean in\nmacro "many" : command =>\n  return ⟨mkNullNode (Array.replicate 1500 (← `(#check Nat)).raw)⟩\n'
    done = elaborator.elaborate(many + "many\nmany\ntheorem b : 1 = 2 := by omega\n")
    assert len(done.errors) == 1
    assert done.reply["messages_dropped"] == 2000


def test_nothing_reaches_the_next_request(elaborator: Elaborator) -> None:
    elaborator.elaborate(LEAKY)
    done = elaborator.elaborate('#check A.k\n#eval "a" + "b"')
    assert len(done.errors) == 2
    assert done.reply["constants"] == 0


def test_a_module_can_be_a_prelude(elaborator: Elaborator, kernel: Kernel) -> None:
    text = "axiom A.«c d».é : Prop\ntheorem a (h : A.«c d».é) : A.«c d».é := h\n"
    done = elaborator.elaborate(text, imports=[])
    assert done.errors == []
    results = outcomes(kernel.replay(in_order(done.export), imports=[]))
    assert results == {("A", "c d", "é"): ("accepted", ""), ("a",): ("accepted", "")}


# Code: what the build's code generator could not do must not stop a declaration.

RUNS = {
    "well-founded over attach": """
inductive T | node : List T → T
def T.size : T → Nat
  | .node l => 1 + (l.attach.map fun ⟨t, _⟩ => t.size).sum
termination_by t => sizeOf t
decreasing_by simp_wf; have := List.sizeOf_lt_of_mem ‹_›; omega
#eval (T.node [T.node []]).size
""",
    "range loop": """
def f (n : Nat) : Nat := Id.run do
  let mut s := 0
  for i in [0:n] do s := s + i
  return s
#eval f 10 - 43
""",
    "instance of an extending class": """
class Two (α : Type) extends Mul α where
  two : α
instance : Two Nat where
  two := 2
#eval (Two.two : Nat)
""",
    "deriving": """
structure S where
  a : Nat
  b : Bool
  deriving Repr, DecidableEq, BEq, Hashable, Ord, Inhabited
#eval if (default : S) == { a := 0, b := false } then 2 else 1
""",
    "macro": 'macro "two!" : term => `(2)\n#eval two!',
    "hash map": "#eval (Std.HashMap.ofList [(1, 2)] : Std.HashMap Nat Nat)[1]!",
    "printing": '#eval do IO.println "x"; return 2',
    "command": 'open Lean Elab in\nelab "two!" : command => logInfo "2"\ntwo!',
    "tactic": """
open Lean Elab Tactic in
elab "close!" : tactic => do (← getMainGoal).assign (mkConst ``True.intro)
theorem t : True := by close!
#eval 2
""",
    "metaprogram": """
open Lean Meta in
#eval show MetaM Nat from do
  let e ← mkAppM ``Nat.add #[mkNatLit 1, mkNatLit 1]
  return (← whnf e).rawNatLit?.getD 0
""",
}


@pytest.mark.parametrize("case", RUNS)
def test_code_runs(elaborator: Elaborator, case: str) -> None:
    done = elaborator.elaborate(RUNS[case], imports=[["Init"], ["Std"], ["Lean"]])
    assert done.errors == []
    assert done.texts("information")[-1].splitlines()[-1] == "2"


def test_an_error_of_the_code_generator_is_marked_and_harmless(
    elaborator: Elaborator, kernel: Kernel
) -> None:
    text = "def noc : Nat := Classical.choice ⟨1⟩\ntheorem use : noc = noc := rfl\ntheorem no : 1 = 2 := rfl"
    done = elaborator.elaborate(text)
    marks = {each["pos"][0]: each["compile_only"] for each in done.messages}
    assert marks == {1: True, 3: False}
    results = outcomes(kernel.replay(in_order(done.export)))
    assert results[("use",)] == results[("noc",)] == ("accepted", "")


def test_what_escapes_a_command_is_a_message(elaborator: Elaborator) -> None:
    done = elaborator.elaborate(
        '#eval (throw (IO.userError "boom") : IO Unit)\ntheorem t : True := ⟨⟩'
    )
    assert done.errors == ["boom"]
    assert ("t",) in {name for each in done.export.declarations for name in each.names()}


# From the elaborator to the kernel.

ROUND_TRIPS = {
    "axiom": "axiom a : 1 = 1",
    "definition": "def d {α : Type u} [Inhabited α] ⦃x : α⦄ : α := let y := x; y",
    "opaque": "opaque o (n : Nat) : Nat",
    "theorem": "theorem t (x y : Nat) (h : x < y) : x + 1 ≤ y := by omega",
    "string": 'theorem t : "a\\"é\\n" ++ "𝔸" = "a\\"é\\n𝔸" := by decide',
    "big literal": "theorem t : 2 ^ 200 + 1 = 1606938044258990275541962092341162602522202993782792835301377 := by decide",
    "structure": "structure P (α : Type u) where\n  a : α\n  b : Nat\ntheorem P.eta (p : P α) : p = ⟨p.a, p.b⟩ := rfl",
    "indexed family": "inductive V (α : Type u) : Nat → Type u | nil : V α 0 | cons : α → V α n → V α (n + 1)",
    "mutual": "mutual\ninductive E : Nat → Prop | z : E 0 | s : O n → E (n + 1)\ninductive O : Nat → Prop | s : E n → O (n + 1)\nend",
    "nested": "inductive T (α : Type) | node : α → List (T α) → Array (T α) → T α",
    "reflexive": "inductive W (α : Type) (β : α → Type) | sup (a : α) (f : β a → W α β) : W α β",
    "nested recursion": "inductive T | node : List T → T\nmutual\ndef T.size : T → Nat | .node l => 1 + sizes l\ndef sizes : List T → Nat | [] => 0 | t :: l => t.size + sizes l\nend",
    "well-founded": "def g (a b : Nat) : Nat := if h : b = 0 then a else g b (a % b)\ntermination_by b\ndecreasing_by exact Nat.mod_lt _ (Nat.pos_of_ne_zero h)",
    "class": "class M (α : Type u) extends Mul α, Inhabited α where\n  id_mul : ∀ a : α, default * a = a",
    "quotient": "def Q := Quot (fun a b : Nat => a % 2 = b % 2)\ntheorem q : Quot.mk (fun a b : Nat => a % 2 = b % 2) 0 = Quot.mk _ 2 := Quot.sound rfl",
    "partial": "mutual\npartial def f (n : Nat) : Nat := g (n + 1)\npartial def g (n : Nat) : Nat := f (n + 1)\nend",
    "unsafe": "mutual\nunsafe def f (n : Nat) : Nat := g n\nunsafe def g (n : Nat) : Nat := f n\nend",
    "odd names": "theorem «a b.c».«1».d_é : True := ⟨⟩\nprivate theorem p : True := ⟨⟩",
}


@pytest.mark.parametrize("case", ROUND_TRIPS)
def test_round_trip(elaborator: Elaborator, kernel: Kernel, case: str) -> None:
    done = elaborator.elaborate(ROUND_TRIPS[case], options={"autoImplicit": True})
    assert done.errors == []
    export = done.export
    results = kernel.replay(in_order(export))
    declared = {name for each in export.declarations for name in each.names()}
    assert {
        name: value for name, value in outcomes(results).items() if value[0] != "accepted"
    } == {}
    assert set(outcomes(results)) == declared
    assert done.reply["constants"] == len(declared)


def test_an_export_shares_all_equal_terms(elaborator: Elaborator) -> None:
    text = "".join(
        f"theorem t{i} (x : Nat) (h : x < {i}) : x < {i} + 1 := by omega\n" for i in range(5)
    )
    done = elaborator.elaborate(text)
    lines = [json.loads(line) for line in done.export_file.read_bytes().splitlines()]
    for key in ("in", "il", "ie"):
        bodies = [
            json.dumps({k: v for k, v in line.items() if k != key}, sort_keys=True)
            for line in lines
            if key in line
        ]
        assert len(bodies) == len(set(bodies)) > 0


def test_a_deep_term_is_exported(elaborator: Elaborator) -> None:
    text = """open Lean
partial def deep (n : Nat) (e : Expr) : Expr :=
  if n = 0 then e else deep (n - 1) (mkApp (mkConst ``Nat.succ) e)
run_cmd do
  let d : DefinitionVal := {
    name := `d, levelParams := [], type := mkConst ``Nat, value := deep 50000 (mkConst ``Nat.zero)
    hints := .abbrev, safety := .safe }
  match (← getEnv).addDeclCore 0 (.defnDecl d) none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => logError "refused"
"""
    done = elaborator.elaborate(text, imports=WITH_LEAN)
    assert done.errors == []
    assert done.export_file.read_bytes().count(b'"app"') >= 50000


# Cheating.

CHEAT_TEXT = """open Lean
def put (d : Declaration) : CoreM Unit := do
  match (← getEnv).addDeclCore 0 d none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => logError "refused"
run_cmd Elab.Command.liftCoreM <| put <| .thmDecl {
  name := `unchecked, levelParams := [], type := mkConst ``False, value := mkConst ``True.intro }
run_cmd Elab.Command.liftCoreM <| put <| .thmDecl {
  name := `circular, levelParams := [], type := mkConst ``False, value := mkConst `circular }
run_cmd Elab.Command.liftCoreM <| put <| .defnDecl {
  name := ``Nat.succ, levelParams := [], type := mkConst ``Bool, value := mkConst ``Bool.true
  hints := .abbrev, safety := .safe }
"""


@pytest.fixture(scope="module")
def cheated(elaborator: Elaborator) -> Elaborated:
    done = elaborator.elaborate(CHEAT_TEXT, imports=WITH_LEAN)
    assert done.errors == []
    return Elaborated(done.messages, done.reply, _copied(done.export_file))


def _copied(path: Path) -> Path:
    copy = path.with_suffix(".kept")
    copy.write_bytes(path.read_bytes())
    return copy


def test_what_was_added_behind_the_checker_is_exported_and_refused(
    cheated: Elaborated, kernel: Kernel
) -> None:
    results: dict[Name, tuple[str, str]] = {}
    for name in [("unchecked",), ("circular",), ("Nat", "succ")]:
        content = replay_file(cheated.export, [name])
        results |= outcomes(kernel.replay(content, imports=WITH_LEAN))
    assert results[("unchecked",)] == ("rejected", "declaration_type_mismatch")
    assert results[("circular",)] == ("rejected", "unknown_constant")
    assert results[("Nat", "succ")] == ("rejected", "already_declared")


def test_what_needs_a_refused_declaration_is_blocked(
    elaborator: Elaborator, kernel: Kernel
) -> None:
    export = elaborator.elaborate("theorem a : 1 = 1 := rfl\ntheorem b : 1 = 1 := a").export
    content = in_order(export)
    lines = [json.loads(line) for line in content.splitlines()]
    first = next(line["thm"] for line in lines if "thm" in line)
    first["value"] = first["type"]
    results = kernel.replay("\n".join([*map(json.dumps, lines), ""]).encode())
    assert outcomes(results) == {
        ("a",): ("rejected", "declaration_type_mismatch"),
        ("b",): ("blocked", ""),
    }
    assert results[1]["by"] == ["a"]


@pytest.mark.parametrize(
    "change", [{"k": True}, {"numMinors": 3}, {"numMotives": 2}, {"rules": []}, {"isUnsafe": True}]
)
def test_a_recursor_other_than_the_kernels_is_refused(
    elaborator: Elaborator, kernel: Kernel, change: dict[str, object]
) -> None:
    content = in_order(elaborator.elaborate("inductive N | z | s (n : N)").export)
    lines = [json.loads(line) for line in content.splitlines()]
    group = next(line["inductive"] for line in lines if "inductive" in line)
    group["recs"][0] |= change
    results = kernel.replay("\n".join([*map(json.dumps, lines), ""]).encode())
    assert outcomes(results)[("N",)] == ("rejected", "generated_mismatch")


def test_a_replay_leaves_nothing_behind(elaborator: Elaborator, kernel: Kernel) -> None:
    content = in_order(elaborator.elaborate("theorem once : True := ⟨⟩").export)
    for _ in range(2):
        assert outcomes(kernel.replay(content)) == {("once",): ("accepted", "")}


def test_the_kernels_limit_is_undecided(elaborator: Elaborator, kernel: Kernel) -> None:
    text = "theorem a (x y z : Nat) (h : x < y) (k : y < z) : x + 1 < z := by omega"
    content = in_order(elaborator.elaborate(text).export)
    results = outcomes(kernel.replay(content, heartbeats=1))
    assert ("undecided", "kernel_limit") in results.values()
    assert ("rejected", "unknown_constant") not in results.values()
    assert set(outcomes(kernel.replay(content)).values()) == {("accepted", "")}


@pytest.mark.parametrize(
    "content", [b"not json\n", b'{"in":5,"str":{"pre":0,"str":"a"}}\n', b"{}\n"]
)
def test_a_malformed_file_is_refused(kernel: Kernel, content: bytes) -> None:
    with pytest.raises(WorkerRefused):
        kernel.replay(content)


# The library.


def test_describe(kernel: Kernel) -> None:
    names = [["Nat", "add_comm"], ["Classical", "em"], ["propext"], ["Nat", "land"]]
    names += [["Nat"], ["Nat", "succ"], ["Nat", "rec"], ["Quot", "mk"], ["nowhere"]]
    reply = kernel.request("describe", imports=INIT, names=names)
    facts = {tuple(each["name"]): each for each in reply["constants"]}
    assert {name: each["kind"] for name, each in facts.items()} == {
        ("Nat", "add_comm"): "theorem",
        ("Classical", "em"): "theorem",
        ("propext",): "axiom",
        ("Nat", "land"): "definition",
        ("Nat",): "inductive",
        ("Nat", "succ"): "constructor",
        ("Nat", "rec"): "recursor",
        ("Quot", "mk"): "quot",
        ("nowhere",): "missing",
    }
    assert facts[("propext",)]["axioms"] == [["propext"]]
    assert facts[("Nat",)]["axioms"] == facts[("Nat",)]["unknown"] == []
    # This library ships neither the proofs of theorems nor these bodies.
    for name in [("Nat", "add_comm"), ("Classical", "em"), ("Nat", "land")]:
        assert list(name) in facts[name]["unknown"]
        assert facts[name]["unknown_count"] >= 1


def test_export_of_a_part_of_the_library(kernel: Kernel) -> None:
    roots = [["Nat", "add_comm"], ["Nat", "land"], ["List", "map"], ["Quot", "lift"]]
    reply = kernel.request(
        "export", imports=INIT, roots=roots, file="base.ndjson", kinds_file="kinds.ndjson"
    )
    content = (kernel.scratch / "base.ndjson").read_bytes()
    export = read_export(content)
    assert sum(len(each.names()) for each in export.declarations) == reply["constants"]
    kinds = {
        tuple(line["name"]): line["kind"]
        for line in map(json.loads, (kernel.scratch / "kinds.ndjson").read_text().splitlines())
    }
    assert kinds[("Nat", "add_comm")] == "theorem"
    assert kinds[("Nat", "land")] == "definition"
    assert sum(b'"axiom":' in line for line in content.splitlines()) == len(kinds)
    results = outcomes(kernel.replay(content, imports=[]))
    assert set(results.values()) == {("accepted", "")}
