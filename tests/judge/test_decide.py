"""The decision on hand-made exports: what is compared, which axioms count, what kernels may say."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from lemmata.errors import ExportError
from lemmata.export import (
    Axiom,
    Definition,
    Export,
    HintKind,
    Hints,
    InductiveGroup,
    InductiveType,
    Name,
    Opaque,
    Safety,
    TermsBuilder,
    Theorem,
    parse_name,
)
from lemmata.judge.axioms import STANDARD_AXIOMS, LibraryFact
from lemmata.judge.decide import (
    ReferenceProblem,
    TargetDecision,
    Task,
    audits,
    check_reference,
    decide,
    library_names,
    statements,
    worth_replaying,
)
from lemmata.judge.faults import known_fault
from lemmata.judge.finding import Finding
from lemmata.judge.replay import DeclarationResult, needed, replay_file
from lemmata.judge.verdict import Outcome, Reason, Verdict, worst

P: Name = ("P",)
T: Name = ("T",)


class Build:
    """An export in the making: declarations by keyword, types and values as terms."""

    def __init__(self) -> None:
        self.terms = TermsBuilder()
        self.declared: list[Axiom | Definition | Theorem | Opaque] = []

    def definition(
        self, name: str, type_: int, value: int, safety: Safety = Safety.SAFE
    ) -> "Build":
        path = parse_name(name)
        hints = Hints(HintKind.REGULAR, 1)
        self.declared.append(Definition(path, (), type_, value, hints, safety, (path,)))
        return self

    def theorem(self, name: str, type_: int, value: int) -> "Build":
        path = parse_name(name)
        self.declared.append(Theorem(path, (), type_, value, (path,)))
        return self

    def axiom(self, name: str, type_: int) -> "Build":
        self.declared.append(Axiom(parse_name(name), (), type_))
        return self

    def opaque(self, name: str, type_: int, value: int) -> "Build":
        path = parse_name(name)
        self.declared.append(Opaque(path, (), type_, value, False, (path,)))
        return self

    @property
    def export(self) -> Export:
        return Export(self.terms.terms, tuple(self.declared))


def challenge() -> Build:
    """``def P : Prop := True`` and ``theorem T : P := sorry``."""
    build = Build()
    term = build.terms
    build.definition("P", term.prop(), term.const("True"))
    return build.theorem("T", term.const("P"), term.app(term.const("sorryAx"), term.const("P")))


def solution() -> Build:
    build = Build()
    term = build.terms
    build.definition("P", term.prop(), term.const("True"))
    return build.theorem("T", term.const("P"), term.const("True.intro"))


KNOWN: dict[str, LibraryFact] = {
    "sorryAx": LibraryFact(("sorryAx",), "axiom", frozenset({("sorryAx",)})),
    "hidden": LibraryFact(("hidden",), "theorem", frozenset(), (("hidden",),), 1),
    "em": LibraryFact(("em",), "theorem", frozenset({("Classical", "choice")})),
}


def facts(names: frozenset[Name]) -> Mapping[Name, LibraryFact]:
    return {
        name: KNOWN.get(".".join(map(str, name)), LibraryFact(name, "definition", frozenset()))
        for name in names
    }


def judged(
    reference: Build,
    found: Build,
    *,
    permitted: frozenset[Name] = STANDARD_AXIOMS,
    kernels: Mapping[str, object] | None = None,
    task: Task | None = None,
) -> TargetDecision:
    task = task or Task((T,), (), permitted)
    left, right = reference.export, found.export
    check_reference(task, left)
    stated = statements(task, left, right)
    audited = audits(task, left, right, facts(library_names(task, right)))
    if kernels is None:
        kernels = {"lean": accept_all(right, worth_replaying(task, stated, audited))}
    return decide(task, right, stated, audited, kernels)[0]  # type: ignore[arg-type]


def accept_all(export: Export, targets: tuple[Name, ...]) -> list[DeclarationResult]:
    return [DeclarationResult((name,), "accepted") for name in needed(export, targets)]


def reason(decision: TargetDecision) -> Reason | None:
    return None if decision.finding is None else decision.finding.reason


def test_honest() -> None:
    decision = judged(challenge(), solution())
    assert decision.finding is None
    assert decision.kernels == {"lean": None}


def test_binder_names_do_not_matter() -> None:
    reference, found = challenge(), solution()
    for build, name in ((reference, "x"), (found, "y")):
        term = build.terms
        build.theorem("All", term.forall(name, term.prop(), term.prop()), term.const("True.intro"))
    task = Task((("All",),), (), frozenset())
    assert judged(reference, found, task=task).finding is None


def test_unfinished() -> None:
    decision = judged(challenge(), challenge())
    assert reason(decision) is Reason.USES_SORRY
    assert decision.kernels == {}


def test_missing_and_wrong_kind() -> None:
    assert reason(judged(challenge(), Build())) is Reason.MISSING
    axiom = Build()
    axiom.definition("P", axiom.terms.prop(), axiom.terms.const("True"))
    axiom.axiom("T", axiom.terms.const("P"))
    assert reason(judged(challenge(), axiom)) is Reason.KIND_MISMATCH


def test_other_statement_says_where() -> None:
    found = Build()
    term = found.terms
    found.theorem("T", term.const("True"), term.const("True.intro"))
    decision = judged(challenge(), found)
    assert reason(decision) is Reason.STATEMENT_MISMATCH
    assert decision.finding is not None
    assert (decision.finding.expected, decision.finding.found) == ("P", "True")
    assert decision.finding.path == ("type",)


def test_changed_definition_below_the_statement() -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("False"))
    found.theorem("T", term.const("P"), term.const("True.intro"))
    decision = judged(challenge(), found)
    assert reason(decision) is Reason.DEPENDENCY_MISMATCH
    assert decision.finding is not None
    assert decision.finding.chain == (T, P)


def test_structure_reached_only_through_a_projection() -> None:
    reference, found = Build(), Build()
    for build, value in ((reference, "True"), (found, "False")):
        term = build.terms
        build.definition("S", term.prop(), term.const(value))
        type_ = term.forall("x", term.prop(), term.proj("S", 0, term.bvar(0)))
        build.theorem("T", type_, term.const("True.intro"))
    assert reason(judged(reference, found)) is Reason.DEPENDENCY_MISMATCH


def test_library_constant_declared_anew() -> None:
    reference, found = challenge(), solution()
    found.definition("True", found.terms.prop(), found.terms.prop())
    assert reason(judged(reference, found)) is Reason.REDEFINED


def test_primitive_declared_anew_even_if_unused() -> None:
    found = solution()
    found.definition("Nat.gcd", found.terms.prop(), found.terms.prop())
    assert reason(judged(challenge(), found)) is Reason.REDEFINED


def test_axiom_in_an_opaque_value() -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    found.axiom("cheat", term.const("P"))
    found.opaque("cover", term.const("P"), term.const("cheat"))
    found.theorem("T", term.const("P"), term.const("cover"))
    decision = judged(challenge(), found)
    assert reason(decision) is Reason.ILLEGAL_AXIOM
    assert decision.finding is not None
    assert decision.finding.chain == (T, ("cover",), ("cheat",))


@pytest.mark.parametrize("name", ["«Quot.sound»", "My.propext", "«propext\n»"])
def test_look_alikes_of_permitted_axioms(name: str) -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    found.declared.append(Axiom(parse_name(name), (), term.const("P")))
    found.theorem("T", term.const("P"), term.const(parse_name(name)))
    assert reason(judged(challenge(), found)) is Reason.ILLEGAL_AXIOM


def test_own_axiom_under_a_permitted_name() -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    found.axiom("Classical.choice", term.const("P"))
    found.theorem("T", term.const("P"), term.const("Classical.choice"))
    assert reason(judged(challenge(), found)) is Reason.ILLEGAL_AXIOM


def test_axiom_of_the_challenge() -> None:
    reference, found = challenge(), solution()
    for build in (reference, found):
        build.axiom("given", build.terms.const("P"))
    found.declared[1] = Theorem(T, (), found.terms.const("P"), found.terms.const("given"), (T,))
    assert reason(judged(reference, found)) is Reason.ILLEGAL_AXIOM
    allowed = STANDARD_AXIOMS | {("given",)}
    assert judged(reference, found, permitted=allowed).finding is None
    found.declared[2] = Axiom(("given",), (), found.terms.const("False"))
    decision = judged(reference, found, permitted=allowed)
    assert reason(decision) is Reason.STATEMENT_MISMATCH


def test_library_axioms_count() -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    found.theorem("T", term.const("P"), term.const("em"))
    assert judged(challenge(), found).finding is None
    decision = judged(challenge(), found, permitted=frozenset({("propext",)}))
    assert reason(decision) is Reason.ILLEGAL_AXIOM
    assert decision.finding is not None
    assert decision.finding.chain == (T, ("em",), ("Classical", "choice"))


def test_hidden_library_proofs_are_an_assumption_or_undecided() -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    found.theorem("T", term.const("P"), term.const("hidden"))
    decision = judged(challenge(), found)
    assert decision.finding is None
    assert decision.rests_on_hidden_proofs
    undecided = judged(challenge(), found, permitted=frozenset())
    assert reason(undecided) is Reason.LIBRARY_AXIOMS_UNKNOWN


@pytest.mark.parametrize("safety", [Safety.UNSAFE, Safety.PARTIAL])
def test_unsafe_and_partial_are_no_proof(safety: Safety) -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    found.definition("cheat", term.const("P"), term.const("cheat"), safety)
    found.theorem("T", term.const("P"), term.const("cheat"))
    assert reason(judged(challenge(), found)) is Reason.UNSAFE


def test_thousands_of_axioms_cost_one_explanation() -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    proof = term.const("a0")
    for number in range(5000):
        found.axiom(f"a{number}", term.const("P"))
        proof = term.app(term.const("k"), proof, term.const(f"a{number}"))
    found.theorem("T", term.const("P"), proof)
    decision = judged(challenge(), found)
    assert reason(decision) is Reason.ILLEGAL_AXIOM
    assert len(decision.axioms) == 5000


def test_many_dependencies_that_share_a_big_term() -> None:
    """Linear, not quadratic: this took minutes."""
    exports = []
    for _ in range(2):
        build = Build()
        term = build.terms
        big = term.prop()
        for number in range(30_000):
            big = term.terms.add_app(big, term.const(f"k{number % 50}"))
        statement = term.prop()
        for number in range(3_000):
            build.definition(f"d{number}", term.prop(), big)
            statement = term.app(statement, term.const(f"d{number}"))
        exports.append(build.theorem("T", statement, term.const("True.intro")))
    assert judged(*exports).finding is None


def test_the_height_of_a_definition_is_no_difference() -> None:
    reference, found = challenge(), solution()
    first = found.declared[0]
    assert isinstance(first, Definition)
    found.declared[0] = replace(first, hints=Hints(HintKind.REGULAR, 7))
    assert judged(reference, found).finding is None
    found.declared[0] = replace(first, hints=Hints(HintKind.ABBREV))
    assert reason(judged(reference, found)) is Reason.DEPENDENCY_MISMATCH


def test_a_circle_of_definitions_has_no_order() -> None:
    found = Build()
    term = found.terms
    found.definition("P", term.prop(), term.const("True"))
    found.definition("a", term.const("P"), term.const("b"))
    found.definition("b", term.const("P"), term.const("a"))
    found.theorem("T", term.const("P"), term.const("a"))
    with pytest.raises(ExportError, match="circle"):
        replay_file(found.export, [T])


class TestKnownFaults:
    def nested(self, count: int) -> Export:
        build = Build()
        term = build.terms
        tree: Name = ("Tree",)
        type_ = InductiveType(tree, (), term.type(), 0, 0, (tree,), (), count, True, False, False)
        build.theorem("T", term.const("Tree"), term.const("True.intro"))
        return Export(term.terms, (InductiveGroup((type_,), (), ()), *build.declared))

    def test_nested_types_need_a_second_kernel(self) -> None:
        finding = known_fault(self.nested(1), T, "4.28.0-pre")
        assert finding is not None
        assert finding.reason.outcome is Outcome.UNDECIDED
        assert known_fault(self.nested(0), T, "4.28.0-pre") is None
        assert known_fault(self.nested(1), T, "4.35.0") is None
        assert known_fault(self.nested(1), T, "nightly") is not None


class TestHoles:
    task = Task((T,), (("large",),), frozenset())

    def build(self, value: int | str, type_: str = "Nat") -> Build:
        build = Build()
        term = build.terms
        given = term.nat(value) if isinstance(value, int) else term.const(value)
        build.definition("large", term.const(type_), given)
        return build.theorem(
            "T", term.app(term.const("big"), term.const("large")), term.const("True.intro")
        )

    def test_value_is_free(self) -> None:
        assert judged(self.build("sorryAx"), self.build(38), task=self.task).finding is None

    def test_type_is_not(self) -> None:
        decision = judged(self.build("sorryAx"), self.build(38, "Int"), task=self.task)
        assert reason(decision) is None  # the theorem's own statement is the same
        left, right = self.build("sorryAx").export, self.build(38, "Int").export
        stated = statements(self.task, left, right)
        finding = stated[("large",)]
        assert finding is not None
        assert finding.reason is Reason.STATEMENT_MISMATCH

    def test_must_be_a_definition(self) -> None:
        found = Build()
        found.axiom("large", found.terms.const("Nat"))
        stated = statements(self.task, self.build("sorryAx").export, found.export)
        finding = stated[("large",)]
        assert finding is not None
        assert finding.reason is Reason.KIND_MISMATCH


class TestKernels:
    def results(self, **outcomes: str) -> list[DeclarationResult]:
        return [
            DeclarationResult(((name,),), *outcome.split(":", 1))
            for name, outcome in outcomes.items()
        ]

    def judged(self, **kernels: object) -> Reason | None:
        return reason(judged(challenge(), solution(), kernels=kernels))

    def test_every_needed_declaration_must_be_accepted(self) -> None:
        accepted = self.results(P="accepted", T="accepted")
        assert self.judged(lean=accepted, native=accepted) is None
        assert self.judged(lean=accepted[:1]) is Reason.TOOL_FAILURE
        assert self.judged(lean=[]) is Reason.TOOL_FAILURE
        assert self.judged() is Reason.TOOL_FAILURE

    def test_a_rejected_lemma_rejects_the_target(self) -> None:
        assert self.judged(lean=self.results(P="rejected:x", T="blocked")) is Reason.KERNEL_REJECTED

    def test_redeclared(self) -> None:
        results = self.results(P="rejected:already_declared", T="blocked")
        assert self.judged(lean=results) is Reason.REDEFINED

    def test_limits_are_undecided(self) -> None:
        limit = self.results(P="accepted", T="undecided:kernel_limit")
        assert self.judged(lean=limit) is Reason.KERNEL_LIMIT
        gone = self.results(P="undecided:missing_base_constant", T="blocked")
        assert self.judged(lean=gone) is Reason.MISSING_BASE_CONSTANT

    def test_an_unknown_outcome_is_not_an_acceptance(self) -> None:
        assert self.judged(lean=self.results(P="accepted", T="fine")) is Reason.TOOL_FAILURE

    def test_kernels_that_disagree_decide_nothing(self) -> None:
        good = self.results(P="accepted", T="accepted")
        bad = self.results(P="accepted", T="rejected:x")
        assert self.judged(lean=good, native=bad) is Reason.KERNELS_DISAGREE
        assert self.judged(lean=bad, native=bad) is Reason.KERNEL_REJECTED

    def test_a_kernel_without_an_answer(self) -> None:
        good = self.results(P="accepted", T="accepted")
        dead = Finding(Reason.CRASH, "gone")
        assert self.judged(lean=good, native=dead) is Reason.CRASH


def test_reference_must_declare_the_targets() -> None:
    with pytest.raises(ReferenceProblem, match="declares no theorem nothing"):
        check_reference(Task((("nothing",),), (), frozenset()), challenge().export)
    with pytest.raises(ReferenceProblem, match="did you mean long_name"):
        build = challenge()
        build.theorem("long_name", build.terms.const("P"), build.terms.const("x"))
        check_reference(Task((("long_nam",),), (), frozenset()), build.export)
    with pytest.raises(ReferenceProblem, match="kind definition"):
        check_reference(Task((P,), (), frozenset()), challenge().export)


def test_verdicts_have_no_truth_value() -> None:
    for verdict in (Verdict(None), Verdict(Reason.MISSING), Verdict(Reason.TIMEOUT)):
        with pytest.raises(TypeError, match="three outcomes"):
            bool(verdict)


def test_worst() -> None:
    accepted, rejected, undecided = (
        Verdict(None),
        Verdict(Reason.MISSING),
        Verdict(Reason.TIMEOUT),
    )
    assert worst([]).outcome is Outcome.ACCEPTED
    assert worst([accepted, undecided]) is undecided
    assert worst([undecided, rejected, accepted]) is rejected
