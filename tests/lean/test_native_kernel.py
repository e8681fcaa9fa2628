"""The native official kernel: what it accepts, what it refuses and why, and what it must survive.

Most tests send small exports, built by hand over `native_prelude`, through a real kernel process.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lemmata.lean.native
from lemmata.export import (
    Axiom,
    BinderInfo,
    Export,
    ExprKind,
    InductiveGroup,
    RecursorRule,
    Safety,
    Terms,
    Theorem,
    expr_equal,
    first_difference,
    format_expr,
)
from lemmata.lean.native.base import (
    IMAGE,
    MANIFEST,
    PRIMITIVES,
    BaseManifest,
    build_base,
    file_identity,
    read_manifest,
    write_base,
)
from lemmata.lean.native.declarations import DeclarationObjects
from lemmata.lean.native.ffi import Library, NativeKernelError, library_path
from lemmata.lean.native.kernel import KernelEnvironment
from lemmata.lean.native.replay import Outcome, Replay
from lemmata.lean.native.terms import MAX_BVAR, TermObjects

from .native_prelude import (
    BINARY_OPERATIONS,
    Builder,
    TermReader,
    U,
    declare_prelude,
    generated_group,
    quotients,
)

IMPORTS = (("Small",),)
Results = list[dict[str, Any]]


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(library_path())


@pytest.fixture(scope="session")
def base_folder(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base over `Small`: the prelude, quotients, and three things the kernel refuses."""
    folder = tmp_path_factory.mktemp("native")
    small = Builder(library)
    declare_prelude(small)
    for quotient in quotients(small):
        small.raw(quotient)
    wrong = small.nat_eq(small.nat(1), small.nat(2))
    small.theorem("Lib.wrong", wrong, small.refl(small.const("Nat"), small.nat(1)))
    small.theorem("Lib.uses_wrong", wrong, small.const("Lib.wrong"))
    small.axiom("Lib.uses_hidden", small.app("Lib.hidden", small.nat(1)))
    build_base(small.write(folder / "small.ndjson"), folder / "base", IMPORTS)
    return folder / "base"


class KernelProcess:
    """A kernel process and the client's side of its protocol."""

    def __init__(self, base: Path, scratch: Path, *options: str) -> None:
        self.scratch = scratch
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lemmata.lean.native", str(base), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=scratch,
        )
        self._requests = 0

    def send(self, **request: Any) -> None:
        self._requests += 1
        line = {"id": self._requests, "frame": f"{self._requests:032x}", **request}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"\n"
        frame, _, reply = self.process.stdout.readline().partition(b" ")
        assert frame.decode() == f"{self._requests:032x}"
        answer: dict[str, Any] = json.loads(reply)
        assert answer.pop("id") == self._requests
        return answer

    def ask(self, **request: Any) -> dict[str, Any]:
        self.send(**request)
        return self.receive()

    def write(self, builder: Builder) -> str:
        builder.write(self.scratch / "delta.ndjson")
        return "delta.ndjson"

    def replay(self, builder: Builder, max_heartbeats: int = 0, max_rec_depth: int = 0) -> Results:
        reply = self.ask(
            op="replay",
            imports=IMPORTS,
            file=self.write(builder),
            maxHeartbeats=max_heartbeats,
            maxRecDepth=max_rec_depth,
        )
        assert reply["ok"], reply
        results: Results = reply["results"]
        return results

    def child(self) -> psutil.Process:
        """The process of the request that is running."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            children = psutil.Process(self.process.pid).children()
            if children:
                return children[0]
        raise AssertionError("no child appeared")

    def close(self) -> tuple[int, str]:
        """End of input: the exit code and what was written to standard error."""
        _, errors = self.process.communicate(timeout=20)
        return self.process.returncode, errors.decode()


Start = Callable[..., KernelProcess]


@pytest.fixture(scope="session")
def start(base_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts kernel processes that have said hello."""
    started: list[KernelProcess] = []

    def start(*options: str) -> KernelProcess:
        process = KernelProcess(base_folder, tmp_path_factory.mktemp("scratch"), *options)
        started.append(process)
        assert process.ask(op="hello", role="kernel")["ok"]
        return process

    yield start
    for process in started:
        code, errors = process.close()
        assert (code, errors) == (0, "")


@pytest.fixture(scope="session")
def kernel(start: Start) -> KernelProcess:
    """One process for all ordinary requests."""
    return start()


@pytest.fixture
def build(library: Library) -> Builder:
    return Builder(library)


@pytest.fixture
def prelude(library: Library) -> Builder:
    builder = Builder(library)
    declare_prelude(builder)
    return builder


def replay_here(library: Library, export: Export) -> list[tuple[Outcome, str]]:
    """Replay in this process over nothing; for exports that no writer would produce."""
    replay = Replay(
        library,
        KernelEnvironment(library, None, quot_initialised=False),
        export,
        missing=frozenset(),
        max_heartbeats=0,
        max_rec_depth=0,
    )
    return [(result.outcome, result.reason) for result in replay]


def outcomes(results: Results) -> dict[str, tuple[str, str]]:
    return {
        ".".join(map(str, result["names"][0])): (result["outcome"], result["reason"])
        for result in results
    }


ACCEPTED = ("accepted", "")


class TestAccepts:
    def test_computation_on_literals(self, kernel: KernelProcess, build: Builder) -> None:
        b = build
        rows = {
            "add": (2**70, 2**65, 2**70 + 2**65),
            "sub": (2**65, 2**70, 0),
            "mul": (2**40 + 1, 2**40 - 1, 2**80 - 1),
            "div": (10**20, 7, 10**20 // 7),
            "mod": (10**20, 7, 10**20 % 7),
            "gcd": (2**70 * 3, 2**66 * 5, 2**66),
            "pow": (3, 50, 3**50),
            "land": (2**70 - 1, 2**69 + 5, 2**69 + 5),
            "lor": (2**70, 5, 2**70 + 5),
            "xor": (2**70 + 5, 2**70, 5),
            "shiftLeft": (5, 70, 5 << 70),
            "shiftRight": (5 << 70, 69, 10),
        }
        assert set(rows) == set(BINARY_OPERATIONS)
        nat = b.const("Nat")
        for operation, (left, right, result) in rows.items():
            value = b.app(f"Nat.{operation}", b.nat(left), b.nat(right))
            right_proof, wrong_proof = b.refl(nat, b.nat(result)), b.refl(nat, b.nat(result + 1))
            b.theorem(f"right.{operation}", b.nat_eq(value, b.nat(result)), right_proof)
            b.theorem(f"wrong.{operation}", b.nat_eq(value, b.nat(result + 1)), wrong_proof)
        found = outcomes(kernel.replay(b))
        for operation in BINARY_OPERATIONS:
            assert found[f"right.{operation}"] == ACCEPTED, operation
            assert found[f"wrong.{operation}"] == ("rejected", "declaration_type_mismatch")

    def test_every_kind_of_declaration(self, kernel: KernelProcess, build: Builder) -> None:
        b = build
        nat = b.const("Nat")
        b.axiom("a", b.prop)
        b.definition("d", b.arrow(nat, nat), b.lam(nat, b.app("Nat.succ", b.var(0))))
        b.opaque("o", nat, b.nat(3))
        b.theorem("t", b.nat_eq(b.app("d", b.nat(2)), b.nat(3)), b.refl(nat, b.nat(3)))
        results = kernel.replay(b)
        assert [(result["kind"], result["outcome"]) for result in results] == [
            ("axiom", "accepted"),
            ("definition", "accepted"),
            ("opaque", "accepted"),
            ("theorem", "accepted"),
        ]
        assert all(result["ms"] >= 0 and result["message"] == "" for result in results)

    def test_let_projection_and_string(self, kernel: KernelProcess, prelude: Builder) -> None:
        b = prelude
        nat, prop = b.const("Nat"), b.prop
        pair = b.app("And.intro", b.const("P"), b.const("Q"), b.const("p"), b.const("q"))
        size = len(b.declarations)
        b.axiom("P", prop)
        b.axiom("Q", prop)
        b.axiom("p", b.const("P"))
        b.axiom("q", b.const("Q"))
        both = b.app("And", b.const("P"), b.const("Q"))
        b.theorem("pair", both, pair)
        b.theorem("second", b.const("Q"), b.terms.add_proj(("And",), 1, b.const("pair")))
        value = b.terms.add_let(("n",), nat, b.nat(4), b.app("Nat.succ", b.var(0)))
        b.theorem("bound", b.nat_eq(value, b.nat(5)), b.refl(nat, b.nat(5)))
        string = b.const("String")
        code = [b.app("Char.ofNat", b.nat(ord(char))) for char in "é😀"]
        char = b.const("Char")
        letters = b.app(b.const("List.nil", 0), char)
        for letter in reversed(code):
            letters = b.app(b.const("List.cons", 0), char, letter, letters)
        text = b.terms.add_string("é😀")
        spelled = b.app("String.ofList", letters)
        b.theorem("text", b.eq(string, text, spelled), b.refl(string, text))
        del b.declarations[:size]
        assert set(outcomes(kernel.replay(b)).values()) == {ACCEPTED}

    def test_unsafe_and_partial_definitions(self, kernel: KernelProcess, build: Builder) -> None:
        b = build
        nat = b.const("Nat")
        endless = b.arrow(nat, nat)

        def calls(name: str) -> int:
            return b.lam(nat, b.app(name, b.var(0)))

        b.definition("alone", endless, calls("alone"), safety=Safety.UNSAFE)
        b.definition("again", endless, calls("again"), safety=Safety.PARTIAL)
        for name, other in (("even", "odd"), ("odd", "even")):
            b.definition(
                name, endless, calls(other), safety=Safety.PARTIAL, all_names=("even", "odd")
            )
        for name, other in (("ping", "pong"), ("pong", "ping")):
            b.definition(
                name, endless, calls(other), safety=Safety.UNSAFE, all_names=("ping", "pong")
            )
        b.theorem("uses_unsafe", b.nat_eq(b.app("alone", b.nat(0)), b.nat(0)), b.nat(0))
        found = outcomes(kernel.replay(b))
        assert found.pop("uses_unsafe")[0] == "rejected"
        assert set(found.values()) == {ACCEPTED}
        assert len(found) == 6

    def test_recursors_match_hand_written_ones(self, prelude: Builder) -> None:
        b = prelude
        nat, sort_u, zero = b.const("Nat"), b.terms.add_sort(b.u), b.const("Nat.zero")
        var, pi, lam, app = b.var, b.pi, b.lam, b.app
        motive = pi(nat, sort_u)
        # Under motive and n: the case of n + 1.
        case = pi(nat, pi(app(var(1), var(0)), app(var(2), app("Nat.succ", var(1)))))
        type_ = pi(
            motive,
            pi(app(var(0), zero), pi(_lift_case(b), pi(nat, app(var(3), var(0))))),
        )
        assert case != 0
        recursor = next(
            rec
            for declaration in b.declarations
            if isinstance(declaration, InductiveGroup)
            for rec in declaration.recursors
            if rec.name == ("Nat", "rec")
        )
        assert expr_equal(b.terms, recursor.type, b.terms, type_)
        rec = app(b.const("Nat.rec", b.u), var(3), var(2), var(1), var(0))
        step = lam(
            motive,
            lam(app(var(0), zero), lam(_lift_case(b), lam(nat, app(var(1), var(0), rec)))),
        )
        assert expr_equal(b.terms, recursor.rules[1].rhs, b.terms, step)


def _lift_case(b: Builder) -> int:
    """The case of n + 1 of `Nat.rec`, under the motive and the case of 0."""
    var, pi, app = b.var, b.pi, b.app
    nat = b.const("Nat")
    return pi(nat, pi(app(var(2), var(0)), app(var(3), app("Nat.succ", var(1)))))


def _one(declare: Callable[[Builder], object]) -> Callable[[Builder], None]:
    def run(builder: Builder) -> None:
        declare(builder)

    return run


def _level_too_high(b: Builder) -> None:
    b.definition("bad", b.type, b.type)


def _sort_in_itself(b: Builder) -> None:
    sort = b.terms.add_sort(b.terms.add_level_succ(b.u))
    b.definition("bad", sort, sort, params=[U])


def _undeclared_universe(b: Builder) -> None:
    b.axiom("bad", b.terms.add_sort(b.u))


def _wrong_number_of_levels(b: Builder) -> None:
    nat = b.const("Nat")
    b.theorem("bad", b.app(b.const("Eq"), nat, b.nat(0), b.nat(0)), b.refl(nat, b.nat(0)))


def _theorem_that_is_data(b: Builder) -> None:
    b.theorem("bad", b.const("Nat"), b.nat(0))


def _unknown_constant(b: Builder) -> None:
    b.theorem("bad", b.nat_eq(b.nat(0), b.nat(0)), b.const("Nowhere.proof"))


def _ill_typed_application(b: Builder) -> None:
    b.definition("bad", b.const("Nat"), b.app("Nat.succ", b.const("Bool.true")))


def _application_of_no_function(b: Builder) -> None:
    b.definition("bad", b.const("Nat"), b.app(b.nat(1), b.nat(2)))


def _ill_typed_let(b: Builder) -> None:
    nat = b.const("Nat")
    b.definition("bad", nat, b.terms.add_let(("n",), nat, b.const("Bool.true"), b.var(0)))


def _domain_that_is_no_type(b: Builder) -> None:
    b.definition("bad", b.arrow(b.const("Nat"), b.const("Nat")), b.lam(b.nat(1), b.nat(2)))


def _projection(type_name: str, index: int, struct: Callable[[Builder], int]) -> Any:
    def run(b: Builder) -> None:
        projection = b.terms.add_proj(tuple(type_name.split(".")), index, struct(b))
        b.definition("bad", b.const("Nat"), projection)

    return run


def _pair(b: Builder) -> int:
    fact = b.nat_eq(b.nat(0), b.nat(0))
    proof = b.refl(b.const("Nat"), b.nat(0))
    return b.app("And.intro", fact, fact, proof, proof)


def _redeclares(name: str) -> Callable[[Builder], None]:
    def run(b: Builder) -> None:
        b.axiom(name, b.prop)

    return run


def _inductive(*constructors: tuple[str, Callable[[Builder], int]], sort: str = "type") -> Any:
    def run(b: Builder) -> None:
        types = [(name, build(b)) for name, build in constructors]
        b.raw(b.group([("bad", getattr(b, sort), types)]))

    return run


def _bad(b: Builder) -> int:
    return b.const("bad")


REJECTIONS: dict[str, tuple[Callable[[Builder], None], str]] = {
    "a type in itself": (_level_too_high, "declaration_type_mismatch"),
    "a universe in itself": (_sort_in_itself, "declaration_type_mismatch"),
    "an undeclared universe": (_undeclared_universe, "other"),
    "a wrong number of levels": (_wrong_number_of_levels, "other"),
    "a theorem that is data": (_theorem_that_is_data, "theorem_type_is_not_prop"),
    "an unknown constant": (_unknown_constant, "unknown_constant"),
    "an ill-typed application": (_ill_typed_application, "app_type_mismatch"),
    "an application of no function": (_application_of_no_function, "function_expected"),
    "an ill-typed let": (_ill_typed_let, "let_type_mismatch"),
    "a domain that is no type": (_domain_that_is_no_type, "type_expected"),
    "a projection of a number": (
        _projection("Nat", 0, lambda b: b.nat(0)),
        "invalid_projection",
    ),
    "a projection out of range": (_projection("And", 2, _pair), "invalid_projection"),
    "a projection of another structure": (_projection("Eq", 0, _pair), "invalid_projection"),
    "another axiom of the same name": (_redeclares("Char"), "already_declared"),
    "another type of the same name": (_redeclares("Nat"), "already_declared"),
    "a constructor's name": (_redeclares("Nat.succ"), "already_declared"),
    "a recursor's name": (_redeclares("Nat.rec"), "already_declared"),
    "a quotient's name": (_redeclares("Quot.lift"), "already_declared"),
    "a primitive's name": (_redeclares("Nat.xor"), "already_declared"),
    "a refused library name": (_redeclares("Lib.wrong"), "already_declared"),
    "a hidden library name": (_redeclares("Lib.hidden"), "already_declared"),
    "a negative occurrence": (
        _inductive(("mk", lambda b: b.arrow(b.arrow(_bad(b), b.const("Nat")), _bad(b)))),
        "other",
    ),
    "a constructor of a larger universe": (
        _inductive(("mk", lambda b: b.arrow(b.type, _bad(b)))),
        "other",
    ),
    "a constructor of another type": (
        _inductive(("mk", lambda b: b.const("Nat"))),
        "other",
    ),
    "an inductive that is no sort": (
        lambda b: b.raw(b.group([("bad", b.const("Nat"), [])])),
        "type_expected",
    ),
}


class TestRejects:
    @pytest.mark.parametrize("case", REJECTIONS)
    def test_each(self, kernel: KernelProcess, build: Builder, case: str) -> None:
        declare, reason = REJECTIONS[case]
        declare(build)
        (result,) = kernel.replay(build)
        assert (result["outcome"], result["reason"]) == ("rejected", reason)
        assert result["message"]

    @pytest.mark.parametrize("kind", ["theorem", "definition", "opaque"])
    def test_what_mentions_itself(self, library: Library, prelude: Builder, kind: str) -> None:
        before = len(prelude.declarations)
        false, loop = prelude.const("False"), prelude.const("loop")
        getattr(prelude, kind)("loop", false, loop)
        found = replay_here(library, prelude.export())
        assert set(found[:before]) == {(Outcome.ACCEPTED, "")}
        assert found[before:] == [(Outcome.REJECTED, "unknown_constant")]

    def test_duplicate_universe_parameters(self, library: Library, prelude: Builder) -> None:
        prelude.axiom("bad", prelude.prop, params=[U, U])
        assert replay_here(library, prelude.export())[-1] == (Outcome.REJECTED, "other")

    def test_a_loose_bound_variable(self, library: Library, prelude: Builder) -> None:
        b = prelude
        b.theorem("bad", b.nat_eq(b.nat(0), b.nat(0)), b.var(0))
        outcome, _ = replay_here(library, b.export())[-1]
        assert outcome is not Outcome.ACCEPTED

    def test_quotients_before_equality(self, library: Library, build: Builder) -> None:
        build.raw(quotients(build)[0])
        assert replay_here(library, build.export()) == [(Outcome.REJECTED, "unknown_constant")]

    def test_the_message_is_leans_own(self, kernel: KernelProcess, build: Builder) -> None:
        build.theorem("t", build.nat_eq(build.nat(1), build.nat(2)), build.const("Nat"))
        (result,) = kernel.replay(build)
        assert result["message"].startswith("(kernel) declaration type mismatch, 't' has type")
        assert "Eq Nat 1 2" in result["message"]


class TestDependence:
    def test_what_needs_a_failed_declaration_is_blocked(
        self, kernel: KernelProcess, build: Builder
    ) -> None:
        b = build
        false = b.nat_eq(b.nat(0), b.nat(1))
        b.theorem("bad", false, b.refl(b.const("Nat"), b.nat(0)))
        b.theorem("next", false, b.const("bad"))
        b.theorem("last", false, b.const("next"))
        b.theorem("free", b.nat_eq(b.nat(1), b.nat(1)), b.refl(b.const("Nat"), b.nat(1)))
        bad, following, last, free = kernel.replay(b)
        assert bad["outcome"] == "rejected" and "by" not in bad
        assert (following["outcome"], following["by"]) == ("blocked", [["bad"]])
        assert (last["outcome"], last["by"]) == ("blocked", [["next"]])
        assert free["outcome"] == "accepted"

    @pytest.mark.parametrize("name", ["Lib.wrong", "Lib.uses_wrong", "Lib.hidden"])
    def test_what_the_base_lacks_is_undecided(
        self, kernel: KernelProcess, build: Builder, name: str
    ) -> None:
        build.theorem("t", build.nat_eq(build.nat(1), build.nat(2)), build.const(name))
        build.theorem("u", build.nat_eq(build.nat(1), build.nat(2)), build.const("t"))
        first, second = kernel.replay(build)
        assert (first["outcome"], first["reason"]) == ("undecided", "missing_base_constant")
        assert name in first["message"]
        assert (second["outcome"], second["by"]) == ("blocked", [["t"]])

    def test_nothing_stays_from_one_request_to_the_next(
        self, kernel: KernelProcess, library: Library
    ) -> None:
        for _ in range(2):
            b = Builder(library)
            b.axiom("P", b.prop)
            assert outcomes(kernel.replay(b)) == {"P": ACCEPTED}
        b = Builder(library)
        b.axiom("p", b.const("P"))
        assert outcomes(kernel.replay(b)) == {"p": ("rejected", "unknown_constant")}


def _nested(b: Builder) -> InductiveGroup:
    """``inductive Tree | node : List Tree → Tree``: two recursors."""
    tree = b.const("Tree")
    node = b.arrow(b.app(b.const("List", 0), tree), tree)
    return b.inductive(b.group([("Tree", b.type, [("node", node)])]))


def _retype(group: InductiveGroup, b: Builder) -> InductiveGroup:
    first, *rest = group.recursors
    return replace(group, recursors=(replace(first, type=b.prop), *rest))


def _change(part: str, **fields: Any) -> Callable[[InductiveGroup, Builder], InductiveGroup]:
    def change(group: InductiveGroup, _: Builder) -> InductiveGroup:
        first, *rest = getattr(group, part)
        return replace(group, **{part: (replace(first, **fields), *rest)})

    return change


def _change_rule(group: InductiveGroup, b: Builder) -> InductiveGroup:
    first, *rest = group.recursors
    rule = first.rules[0]
    false_rule = RecursorRule(rule.constructor, rule.num_fields, b.const("Nat.zero"))
    return replace(group, recursors=(replace(first, rules=(false_rule,)), *rest))


def _drop_recursor(group: InductiveGroup, _: Builder) -> InductiveGroup:
    return replace(group, recursors=group.recursors[:1])


def _extra_recursor(group: InductiveGroup, _: Builder) -> InductiveGroup:
    extra = replace(group.recursors[0], name=("Tree", "rec_2"))
    return replace(group, recursors=(*group.recursors, extra))


def _renamed_recursor(group: InductiveGroup, _: Builder) -> InductiveGroup:
    first, *rest = group.recursors
    return replace(group, recursors=(replace(first, name=("Bush", "rec")), *rest))


TAMPERINGS: dict[str, Callable[[InductiveGroup, Builder], InductiveGroup]] = {
    "recursor type": _retype,
    "recursor k": _change("recursors", k=True),
    "recursor motives": _change("recursors", num_motives=1),
    "recursor minors": _change("recursors", num_minors=1),
    "recursor indices": _change("recursors", num_indices=1),
    "recursor universe": _change("recursors", level_params=(("w",),)),
    "recursor rule": _change_rule,
    "recursor missing": _drop_recursor,
    "recursor too many": _extra_recursor,
    "recursor renamed": _renamed_recursor,
    "type indices": _change("types", num_indices=1),
    "type nested": _change("types", num_nested=0),
    "type recursive": _change("types", is_recursive=False),
    "type reflexive": _change("types", is_reflexive=True),
}


class TestGenerated:
    def test_a_true_claim_is_accepted(self, kernel: KernelProcess, prelude: Builder) -> None:
        size = len(prelude.declarations)
        group = _nested(prelude)
        assert len(group.recursors) == 2
        del prelude.declarations[:size]
        assert outcomes(kernel.replay(prelude)) == {"Tree": ACCEPTED}

    @pytest.mark.parametrize("what", TAMPERINGS)
    def test_a_false_claim_is_a_mismatch(
        self, kernel: KernelProcess, prelude: Builder, what: str
    ) -> None:
        b = prelude
        group = _nested(b)
        b.declarations.clear()
        b.raw(TAMPERINGS[what](group, b))
        b.axiom("user", b.const("Tree"))
        tampered, user = kernel.replay(b)
        assert (tampered["outcome"], tampered["reason"]) == ("rejected", "generated_mismatch")
        assert tampered["message"]
        assert (user["outcome"], user["by"]) == ("blocked", [["Tree"]])

    def test_constructor_fields_are_compared(self, library: Library, prelude: Builder) -> None:
        group = _nested(prelude)
        constructor = replace(group.constructors[0], num_fields=2)
        prelude.declarations[-1] = replace(group, constructors=(constructor,))
        found = replay_here(library, prelude.export())
        assert found[-1] == (Outcome.REJECTED, "generated_mismatch")

    def test_quotients_are_compared(self, library: Library, prelude: Builder) -> None:
        size = len(prelude.declarations)
        for quotient in quotients(prelude):
            prelude.raw(quotient)
        assert set(replay_here(library, prelude.export())) == {(Outcome.ACCEPTED, "")}
        lift = prelude.declarations[size + 2]
        prelude.declarations[size + 2] = replace(lift, type=prelude.prop)
        found = replay_here(library, prelude.export())
        assert found[size + 2] == (Outcome.REJECTED, "generated_mismatch")

    def test_quotients_cannot_be_declared_twice(
        self, kernel: KernelProcess, build: Builder
    ) -> None:
        for quotient in quotients(build):
            build.raw(quotient)
        first, *_ = kernel.replay(build)
        assert (first["outcome"], first["reason"]) == ("rejected", "already_declared")


def _endless(b: Builder) -> None:
    """A theorem whose check takes far longer than any test may."""
    types = [b.const("Nat")]
    for _ in range(5):
        types.append(b.arrow(types[-1], types[-1]))

    def two(level: int) -> int:
        domain = types[level]
        twice = b.app(b.var(1), b.app(b.var(1), b.var(0)))
        return b.lam(b.arrow(domain, domain), b.lam(domain, twice))

    parity = b.lam(b.const("Nat"), b.app("Nat.gcd", b.var(0), b.nat(6)))
    count = b.app(two(4), two(3), two(2), two(1), two(0), parity, b.nat(12))
    b.theorem("endless", b.nat_eq(count, b.nat(5)), b.refl(b.const("Nat"), b.nat(5)))


def _before_and_after(b: Builder, declare: Callable[[Builder], None]) -> Builder:
    b.axiom("before", b.prop)
    declare(b)
    b.axiom("zafter", b.prop)
    return b


def _succs(b: Builder, depth: int) -> None:
    term = b.const("Nat.zero")
    succ = b.const("Nat.succ")
    for _ in range(depth):
        term = b.terms.add_app(succ, term)
    b.theorem("deep", b.nat_eq(term, b.nat(depth)), b.refl(b.const("Nat"), b.nat(depth)))


class TestLimits:
    def test_heartbeats(self, kernel: KernelProcess, build: Builder) -> None:
        found = kernel.replay(_before_and_after(build, _endless), max_heartbeats=2000)
        assert outcomes(found) == {
            "before": ACCEPTED,
            "endless": ("undecided", "kernel_limit"),
            "zafter": ACCEPTED,
        }

    def test_the_size_of_numerals(self, kernel: KernelProcess, build: Builder) -> None:
        b = build
        for operation, power in (("pow", 2**31), ("pow", 2**40), ("shiftLeft", 2**40)):
            value = b.app(f"Nat.{operation}", b.nat(2), b.nat(power))
            name = f"{operation}.n{power}"
            b.theorem(name, b.nat_eq(value, b.nat(1)), b.refl(b.const("Nat"), b.nat(1)))
        assert set(outcomes(kernel.replay(b)).values()) == {("undecided", "kernel_limit")}

    def test_recursion_depth(self, kernel: KernelProcess, build: Builder) -> None:
        _succs(build, 5000)
        assert outcomes(kernel.replay(build)) == {"deep": ACCEPTED}
        limited = kernel.replay(build, max_rec_depth=20)
        assert outcomes(limited) == {"deep": ("undecided", "kernel_limit")}

    def test_deep_honest_terms_are_decided(self, kernel: KernelProcess, build: Builder) -> None:
        b = build
        type_ = b.const("False")
        for _ in range(100_000):
            type_ = b.pi(b.const("False"), type_)
        b.axiom("deep", type_)
        assert outcomes(kernel.replay(b)) == {"deep": ACCEPTED}

    def test_a_variable_beyond_what_lean_can_hold(self, library: Library, build: Builder) -> None:
        build.axiom("before", build.prop)
        build.axiom("wide", build.var(MAX_BVAR + 1))
        build.axiom("after", build.prop)
        undecided = (Outcome.UNDECIDED, "kernel_limit")
        accepted = (Outcome.ACCEPTED, "")
        assert replay_here(library, build.export()) == [accepted, undecided, accepted]

    def test_memory(self, start: Start, build: Builder) -> None:
        process = start("--memory", str(48 << 20))
        assert outcomes(process.replay(_before_and_after(build, _endless))) == {
            "before": ACCEPTED,
            "endless": ("undecided", "kernel_limit"),
            "zafter": ACCEPTED,
        }

    def test_wall_clock(self, start: Start, build: Builder) -> None:
        process = start("--wall", "0.7")
        found = process.replay(_before_and_after(build, _endless))
        assert outcomes(found) == {
            "before": ACCEPTED,
            "endless": ("undecided", "kernel_limit"),
            "zafter": ("undecided", "kernel_limit"),
        }
        assert "longer than 0.7 s" in found[1]["message"]


class TestCrashes:
    @pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGKILL, signal.SIGFPE])
    def test_a_child_that_dies_decides_nothing_more(
        self, kernel: KernelProcess, library: Library, number: signal.Signals
    ) -> None:
        file = kernel.write(_before_and_after(Builder(library), _endless))
        kernel.send(op="replay", imports=IMPORTS, file=file)
        child = kernel.child()
        # Long enough for `before`, which takes a millisecond; `endless` takes for ever.
        time.sleep(0.5)
        child.send_signal(number)
        reply = kernel.receive()
        before, endless, after = reply["results"]
        assert before["outcome"] == "accepted"
        assert (endless["outcome"], endless["reason"]) == ("undecided", "kernel_limit")
        assert number.name in endless["message"]
        assert (after["outcome"], after["reason"]) == ("undecided", "kernel_limit")
        b = Builder(library)
        b.axiom("P", b.prop)
        assert outcomes(kernel.replay(b)) == {"P": ACCEPTED}

    def test_children_end_with_the_parent(self, start: Start, base_folder: Path) -> None:
        process = KernelProcess(base_folder, start().scratch)
        process.ask(op="hello", role="kernel")
        file = process.write(_before_and_after(Builder(Library(library_path())), _endless))
        process.send(op="replay", imports=IMPORTS, file=file)
        child = process.child()
        process.process.kill()
        process.process.communicate()
        gone, _ = psutil.wait_procs([child], timeout=5)
        assert gone or child.status() == psutil.STATUS_ZOMBIE

    def test_three_hundred_requests(self, kernel: KernelProcess, library: Library) -> None:
        parent = psutil.Process(kernel.process.pid)
        descriptors, memory = parent.num_fds(), parent.memory_info().rss
        for number in range(300):
            b = Builder(library)
            claimed = 4 + number % 2
            total = b.app("Nat.add", b.nat(2), b.nat(2))
            b.theorem("sum", b.nat_eq(total, b.nat(claimed)), b.refl(b.const("Nat"), b.nat(4)))
            expected = "rejected" if number % 2 else "accepted"
            assert outcomes(kernel.replay(b))["sum"][0] == expected
        assert parent.num_fds() == descriptors
        assert parent.children() == []
        assert parent.memory_info().rss - memory < 8 << 20


class TestFooling:
    def test_nothing_is_ever_added_unchecked(self) -> None:
        folder = Path(lemmata.lean.native.__file__).parent
        sources = {path.name: path.read_text() for path in folder.glob("*.py")}
        assert {"ffi.py", "kernel.py", "replay.py", "server.py"} <= sources.keys()
        for name, text in sources.items():
            assert "without_checking" not in text, name
            assert not re.search(r"lean_environment_add\b", text), name
        callers = [name for name, text in sources.items() if ".lean_add_decl(" in text]
        assert callers == ["kernel.py"]

    def test_a_base_without_a_primitive_cannot_be_built(
        self, library: Library, prelude: Builder, tmp_path: Path
    ) -> None:
        prelude.declarations[:] = [
            declaration
            for declaration in prelude.declarations
            if ("Nat", "xor") not in declaration.names()
        ]
        export = prelude.write(tmp_path / "small.ndjson")
        with pytest.raises(NativeKernelError, match=r"lacks Nat\.xor"):
            build_base(export, tmp_path / "base", IMPORTS)
        assert not (tmp_path / "base" / MANIFEST).exists()

    def test_a_base_without_a_primitive_cannot_be_loaded(
        self,
        library: Library,
        prelude: Builder,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        prelude.declarations[:] = [
            declaration
            for declaration in prelude.declarations
            if ("Nat", "xor") not in declaration.names()
        ]
        monkeypatch.setattr("lemmata.lean.native.base.PRIMITIVES", ())
        with library_path().open("rb") as file:
            identity = file_identity(file.fileno())
        export = prelude.export()
        write_base(library, identity, export, "", tmp_path, IMPORTS, lambda *_: None)
        code, errors = KernelProcess(tmp_path, tmp_path).close()
        assert code == 2
        assert errors.count("\n") == 1 and "lacks Nat.xor" in errors

    def test_every_primitive_the_judge_compares_is_required(self) -> None:
        accelerated = {("Nat", operation) for operation in (*BINARY_OPERATIONS, "beq", "ble")}
        others = {("String", "ofList"), ("Char", "ofNat"), ("List",), ("eagerReduce",)}
        assert accelerated | others <= set(PRIMITIVES)


def _edit_manifest(folder: Path, **fields: Any) -> None:
    path = folder / MANIFEST
    manifest = json.loads(path.read_text())
    path.chmod(0o644)
    path.write_text(json.dumps({**manifest, **fields}))


class TestBase:
    @pytest.fixture
    def folder(self, base_folder: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(base_folder, tmp_path / "copy"))

    def refusal(self, folder: Path) -> str:
        code, errors = KernelProcess(folder, folder).close()
        assert code == 2
        assert errors.count("\n") == 1
        return errors

    def test_the_manifest_lists_what_is_missing(self, base_folder: Path) -> None:
        manifest = read_manifest(base_folder)
        assert manifest.imports == IMPORTS
        assert [
            (refused.names, refused.reason.partition(":")[0]) for refused in manifest.refused
        ] == [
            ((("Lib", "wrong"),), "declaration_type_mismatch"),
            ((("Lib", "uses_wrong"),), "blocked by Lib.wrong"),
            ((("Lib", "uses_hidden"),), "unknown_constant"),
        ]
        assert manifest.unknown == (("Lib", "hidden"),)
        assert manifest.quot_initialised
        assert manifest.constants == 44

    def test_the_manifest_round_trips(self, base_folder: Path) -> None:
        manifest = read_manifest(base_folder)
        assert BaseManifest.from_json(manifest.to_json()) == manifest

    def test_a_copy_works(self, folder: Path) -> None:
        process = KernelProcess(folder, folder)
        assert process.ask(op="hello", role="kernel")["ok"]
        assert process.close() == (0, "")

    @pytest.mark.parametrize("position", [0, 200, -1])
    def test_a_flipped_byte_is_refused(self, folder: Path, position: int) -> None:
        image = folder / IMAGE
        data = bytearray(image.read_bytes())
        data[position] ^= 1
        image.unlink()
        image.write_bytes(data)
        assert "not the one its manifest names" in self.refusal(folder)

    def test_an_empty_image_is_refused(self, folder: Path) -> None:
        (folder / IMAGE).unlink()
        (folder / IMAGE).touch()
        assert "not the one its manifest names" in self.refusal(folder)

    def test_another_library_is_refused(self, folder: Path) -> None:
        _edit_manifest(folder, library_sha256="0" * 64)
        assert "another build" in self.refusal(folder)

    def test_an_unknown_library_file_is_hashed(self, folder: Path) -> None:
        _edit_manifest(folder, library_file=[0, 0, 0, 0, 0])
        process = KernelProcess(folder, folder)
        assert process.ask(op="hello", role="kernel")["ok"]
        assert process.close() == (0, "")

    @pytest.mark.parametrize("fields", [{"schema": 99}, {"imports": 3}, {"extra": 1}])
    def test_another_manifest_is_refused(self, folder: Path, fields: dict[str, Any]) -> None:
        _edit_manifest(folder, **fields)
        assert "build the base again" in self.refusal(folder)

    def test_no_base_is_one_sentence(self, tmp_path: Path) -> None:
        assert "holds no base" in self.refusal(tmp_path)

    def test_progress_reaches_the_end(
        self, library: Library, prelude: Builder, tmp_path: Path
    ) -> None:
        seen: list[tuple[int, int]] = []
        export = prelude.write(tmp_path / "small.ndjson")
        build_base(
            export, tmp_path / "base", IMPORTS, lambda done, total: seen.append((done, total))
        )
        assert seen[-1] == (len(prelude.declarations), len(prelude.declarations))

    def test_a_malformed_export_is_one_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "bad.ndjson").write_text("{}\n")
        with pytest.raises(NativeKernelError, match="line 1"):
            build_base(tmp_path / "bad.ndjson", tmp_path / "base", IMPORTS)


class TestProtocol:
    def test_hello(self, start: Start) -> None:
        reply = start().ask(op="hello", role="kernel")
        assert reply == {
            "ok": True,
            "protocol": 1,
            "lean": "4.35.0",
            "githash": "eb6cafb7290e8bd5f2937522d8d804f58f02bafc",
            "platform": "x86_64-unknown-linux-gnu",
        }

    def test_hello_comes_first(self, base_folder: Path, tmp_path: Path) -> None:
        process = KernelProcess(base_folder, tmp_path)
        refused = process.ask(op="replay", imports=IMPORTS, file="x")
        assert refused == {"ok": False, "error": "the first request must be hello"}
        assert not process.ask(op="hello", role="elaborator")["ok"]
        assert process.close() == (0, "")

    @pytest.mark.parametrize(
        ("request_", "error"),
        [
            ({"op": "elaborate"}, "does not know the request 'elaborate'"),
            ({"op": "replay", "file": "x"}, "must be a list of names"),
            ({"op": "replay", "imports": "Init", "file": "x"}, "must be a list of names"),
            ({"op": "replay", "imports": [["Init"]], "file": "x"}, 'no base for import [["Init"]]'),
            ({"op": "replay", "imports": [], "file": "x"}, "no base for import []"),
            ({"op": "replay", "imports": [["Small"]]}, "the name of a file"),
            ({"op": "replay", "imports": [["Small"]], "file": "none"}, "No such file"),
            (
                {"op": "replay", "imports": [["Small"]], "file": "x", "maxHeartbeats": -1},
                "maxHeartbeats must be a number",
            ),
        ],
    )
    def test_a_request_that_cannot_be_carried_out(
        self, kernel: KernelProcess, request_: dict[str, Any], error: str
    ) -> None:
        reply = kernel.ask(**request_)
        assert not reply["ok"] and error in reply["error"]

    def test_a_malformed_file_is_a_failed_request(self, kernel: KernelProcess) -> None:
        (kernel.scratch / "delta.ndjson").write_bytes(b"not json\n")
        reply = kernel.ask(op="replay", imports=IMPORTS, file="delta.ndjson")
        assert not reply["ok"] and "line 1" in reply["error"]

    def test_a_line_without_a_frame_ends_the_process(
        self, base_folder: Path, tmp_path: Path
    ) -> None:
        process = KernelProcess(base_folder, tmp_path)
        assert process.process.stdin is not None
        process.process.stdin.write(b"{}\n")
        code, errors = process.close()
        assert code == 2 and "frame" in errors

    def test_names_survive_the_way_there_and_back(
        self, kernel: KernelProcess, build: Builder
    ) -> None:
        name = ("a.b", 7, "é😀", 2**32 - 1, "")
        build.raw(Axiom(name, (), build.prop))
        (result,) = kernel.replay(build)
        assert result["names"] == [list(name)] and result["outcome"] == "accepted"


class TestObjects:
    @given(st.integers(min_value=0, max_value=2**300))
    def test_numbers(self, library: Library, value: int) -> None:
        assert library.read_nat(library.nat(value)) == value

    @given(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"])) | st.integers(0, 2**70), max_size=6
        ).map(tuple)
    )
    def test_names(self, library: Library, name: tuple[str | int, ...]) -> None:
        obj = library.name(name)
        assert library.read_name(obj) == name
        assert library.name(name) == obj

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 2**64 - 1).map(lambda n: 2 * (n >> 1) + 1), max_size=9))
    def test_fields(self, library: Library, fields: list[int]) -> None:
        obj = library.constructor(5, fields, b"\x01\x02\x03")
        assert library.tag(obj) == 5
        assert [library.field(obj, index) for index in range(len(fields))] == fields
        assert [library.scalar_byte(obj, offset) for offset in range(3)] == [1, 2, 3]

    def test_a_refused_declaration_leaves_the_environment_as_it_was(
        self, library: Library, prelude: Builder
    ) -> None:
        environment = KernelEnvironment(library, None, quot_initialised=False)
        objects = DeclarationObjects(library, TermObjects(library, prelude.terms))
        good = prelude.axiom("P", prelude.prop)
        bad = Theorem(("t",), (), prelude.prop, prelude.prop, (("t",),))
        assert environment.add(objects.axiom(good), 0, 0) is None
        for _ in range(2000):
            assert environment.add(objects.theorem(bad), 0, 0) is not None
        assert environment.contains(("P",)) and not environment.contains(("t",))

    def test_every_kind_of_expression(self, library: Library, build: Builder) -> None:
        b, terms = build, build.terms
        level = terms.add_level_max(terms.add_level_imax(b.one, b.u), terms.add_level_succ(b.u))
        constant = b.const("c", level, b.u)
        proj = terms.add_proj(("P",), 3, constant)
        info = BinderInfo.INST_IMPLICIT
        parts = [
            b.lam(b.prop, b.var(0)),
            terms.add_lam(("é",), b.type, b.var(0), info),
            terms.add_forall(("y", 4), terms.add_sort(level), b.var(0), info),
            terms.add_let(("z",), b.prop, constant, b.app(b.var(0), b.var(7))),
            b.nat(0),
            b.nat(2**63 - 1),
            b.nat(10**60),
            terms.add_string(""),
            terms.add_string("a\0é😀"),
        ]
        whole = b.app(proj, *parts)
        found = Terms()
        back = TermReader(library, found).expr(TermObjects(library, terms).expr(whole))
        assert expr_equal(terms, whole, found, back)
        binders = [
            node
            for node in found.reachable([back])
            if found.kind(node) in (ExprKind.LAM, ExprKind.FORALL)
        ]
        assert sorted(found.binder_info(node) for node in binders) == [0, info, info]

    def test_read_back_terms_equal_the_originals(self, library: Library, prelude: Builder) -> None:
        environment = KernelEnvironment(library, None, quot_initialised=False)
        objects = DeclarationObjects(library, TermObjects(library, prelude.terms))
        for declaration in prelude.declarations:
            if isinstance(declaration, InductiveGroup):
                assert environment.add(objects.inductive(declaration), 0, 0) is None
                terms = Terms()
                found = generated_group(library, terms, environment, declaration)
                for ours, theirs in zip(declaration.recursors, found.recursors, strict=True):
                    difference = first_difference(prelude.terms, ours.type, terms, theirs.type)
                    assert difference is None, format_expr(terms, theirs.type)
