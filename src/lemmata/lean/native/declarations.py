"""Declarations of an export as Lean ``Declaration`` objects, and what the kernel made of them.

The kernel generates constructors and recursors itself, whatever the export says they are.
`mismatch` compares: it returns what differs, because an export that claims other ones would be
judged on constants that no kernel has seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from lemmata.export import (
    QUOT_NAMES,
    Axiom,
    Constructor,
    Definition,
    HintKind,
    Hints,
    InductiveGroup,
    InductiveType,
    Name,
    Opaque,
    Quotient,
    QuotKind,
    Recursor,
    Safety,
    Theorem,
    format_name,
)
from lemmata.lean.native.ffi import Library, Obj, box
from lemmata.lean.native.kernel import ConstantKind, KernelEnvironment
from lemmata.lean.native.terms import TermObjects

# Constructors of ``Declaration`` by tag.
_AXIOM_DECL = 0
_DEFN_DECL = 1
_THM_DECL = 2
_OPAQUE_DECL = 3
_QUOT_DECL = 4
_MUTUAL_DEFN_DECL = 5

_SAFETY = {Safety.UNSAFE: 0, Safety.SAFE: 1, Safety.PARTIAL: 2}
_QUOT_KINDS = (QuotKind.TYPE, QuotKind.CTOR, QuotKind.LIFT, QuotKind.IND)

QUOT_DECLARATION: Obj = box(_QUOT_DECL)
"""Adding this declares all four quotient primitives."""


class DeclarationObjects:
    """Lean objects for the declarations of one export."""

    def __init__(self, library: Library, terms: TermObjects) -> None:
        self._library = library
        self._terms = terms

    def axiom(self, axiom: Axiom) -> Obj:
        library = self._library
        value = library.lean_mk_axiom_val(
            library.name(axiom.name),
            self._terms.names(axiom.level_params),
            self._terms.expr(axiom.type),
            axiom.is_unsafe,
        )
        return library.constructor(_AXIOM_DECL, [library.keep(value)])

    def theorem(self, theorem: Theorem) -> Obj:
        library, terms = self._library, self._terms
        value = library.lean_mk_theorem_val(
            library.name(theorem.name),
            terms.names(theorem.level_params),
            terms.expr(theorem.type),
            terms.expr(theorem.value),
            terms.names(theorem.all),
        )
        return library.constructor(_THM_DECL, [library.keep(value)])

    def opaque(self, opaque: Opaque) -> Obj:
        library, terms = self._library, self._terms
        value = library.lean_mk_opaque_val(
            library.name(opaque.name),
            terms.names(opaque.level_params),
            terms.expr(opaque.type),
            terms.expr(opaque.value),
            opaque.is_unsafe,
            terms.names(opaque.all),
        )
        return library.constructor(_OPAQUE_DECL, [library.keep(value)])

    def definition(self, definition: Definition) -> Obj:
        return self._library.constructor(_DEFN_DECL, [self._definition_value(definition)])

    def mutual_definitions(self, definitions: Sequence[Definition]) -> Obj:
        """Unsafe or partial definitions that may mention each other and themselves."""
        values = [self._definition_value(definition) for definition in definitions]
        return self._library.constructor(_MUTUAL_DEFN_DECL, [self._library.list(values)])

    def inductive(self, group: InductiveGroup) -> Obj:
        """The types with their constructors; parameters and universes are those of the first."""
        library, terms = self._library, self._terms
        constructors = {ctor.name: ctor for ctor in group.constructors}
        types = [
            library.constructor(
                0,
                [
                    library.name(type_.name),
                    terms.expr(type_.type),
                    library.list(
                        [
                            library.constructor(
                                0, [library.name(name), terms.expr(constructors[name].type)]
                            )
                            for name in type_.constructors
                        ]
                    ),
                ],
            )
            for type_ in group.types
        ]
        first = group.types[0]
        declaration = library.lean_mk_inductive_decl(
            terms.names(first.level_params),
            library.nat(first.num_params),
            library.list(types),
            first.is_unsafe,
        )
        return library.keep(declaration)

    def _definition_value(self, definition: Definition) -> Obj:
        library, terms = self._library, self._terms
        value = library.lean_mk_definition_val(
            library.name(definition.name),
            terms.names(definition.level_params),
            terms.expr(definition.type),
            terms.expr(definition.value),
            self._hints(definition.hints),
            _SAFETY[definition.safety],
            terms.names(definition.all),
        )
        return library.keep(value)

    def _hints(self, hints: Hints) -> Obj:
        match hints.kind:
            case HintKind.OPAQUE:
                return box(0)
            case HintKind.ABBREV:
                return box(1)
            case HintKind.REGULAR:
                return self._library.keep(
                    self._library.lean_mk_reducibility_hints_regular(hints.height)
                )


class Generated:
    """Compares what an environment holds with what an export claims."""

    def __init__(
        self, library: Library, terms: TermObjects, environment: KernelEnvironment
    ) -> None:
        self._library = library
        self._terms = terms
        self._environment = environment

    def mismatch(self, claimed: InductiveGroup | Quotient) -> str | None:
        """One sentence on the first difference; None when the export claims what the kernel has."""
        if isinstance(claimed, Quotient):
            return self._constant_mismatch(claimed)
        for member in claimed.members():
            problem = self._constant_mismatch(member)
            if problem is not None:
                return problem
        expected = expected_recursors(claimed)
        names = {rec.name for rec in claimed.recursors}
        for name in sorted(expected ^ names, key=format_name):
            claim = "does not list" if name in expected else "claims"
            return (
                f"the export {claim} the recursor {format_name(name)}, unlike the kernel's group"
                f" of {format_name(claimed.types[0].name)}"
            )
        return None

    def _constant_mismatch(
        self, claimed: InductiveType | Constructor | Recursor | Quotient
    ) -> str | None:
        library = self._library
        shown = format_name(claimed.name)
        info = self._environment.find(claimed.name)
        if info is None:
            return f"the kernel generated no {shown}"
        kind = _CONSTANT_KINDS[type(claimed)]
        if library.tag(info) != kind:
            return f"the kernel has {shown} as another kind of constant than {kind.name.lower()}"
        value = library.field(info, 0)
        constant = library.field(value, 0)
        if library.read_names(library.field(constant, 1)) != claimed.level_params:
            return f"the kernel's {shown} has other universe parameters"
        if not self._same_expr(library.field(constant, 2), claimed.type):
            return f"the kernel's {shown} has another type"
        found = self._numbers(value, claimed)
        for what, (kernel, export) in found.items():
            if kernel != export:
                return f"the kernel's {shown} has {what} {kernel}, the export says {export}"
        if isinstance(claimed, Recursor):
            return self._rules_mismatch(library.field(value, 6), claimed)
        return None

    def _numbers(
        self, value: Obj, claimed: InductiveType | Constructor | Recursor | Quotient
    ) -> dict[str, tuple[object, object]]:
        """Every field but type and rules: what it is → (the kernel's, the export's)."""
        library = self._library

        def nat(index: int) -> int:
            return library.read_nat(library.field(value, index))

        def name(index: int) -> str:
            return format_name(library.read_name(library.field(value, index)))

        def names(index: int) -> list[str]:
            return _shown(library.read_names(library.field(value, index)))

        def flag(offset: int) -> bool:
            return bool(library.scalar_byte(value, offset))

        match claimed:
            case InductiveType():
                return {
                    "numParams": (nat(1), claimed.num_params),
                    "numIndices": (nat(2), claimed.num_indices),
                    "all": (names(3), _shown(claimed.all)),
                    "ctors": (names(4), _shown(claimed.constructors)),
                    "numNested": (nat(5), claimed.num_nested),
                    "isRec": (flag(0), claimed.is_recursive),
                    "isUnsafe": (flag(1), claimed.is_unsafe),
                    "isReflexive": (flag(2), claimed.is_reflexive),
                }
            case Constructor():
                return {
                    "induct": (name(1), format_name(claimed.induct)),
                    "cidx": (nat(2), claimed.index),
                    "numParams": (nat(3), claimed.num_params),
                    "numFields": (nat(4), claimed.num_fields),
                    "isUnsafe": (flag(0), claimed.is_unsafe),
                }
            case Recursor():
                return {
                    "all": (names(1), _shown(claimed.all)),
                    "numParams": (nat(2), claimed.num_params),
                    "numIndices": (nat(3), claimed.num_indices),
                    "numMotives": (nat(4), claimed.num_motives),
                    "numMinors": (nat(5), claimed.num_minors),
                    "k": (flag(0), claimed.k),
                    "isUnsafe": (flag(1), claimed.is_unsafe),
                }
            case Quotient():
                kind = _QUOT_KINDS[library.scalar_byte(value, 0)]
                return {"kind": (kind.value, claimed.kind.value)}

    def _rules_mismatch(self, rules: Obj, claimed: Recursor) -> str | None:
        library = self._library
        shown = format_name(claimed.name)
        kernel_rules = list(library.items(rules))
        if len(kernel_rules) != len(claimed.rules):
            return (
                f"the kernel's {shown} has {len(kernel_rules)} rules, the export"
                f" {len(claimed.rules)}"
            )
        for rule, claim in zip(kernel_rules, claimed.rules, strict=True):
            constructor = library.read_name(library.field(rule, 0))
            if (
                constructor != claim.constructor
                or library.read_nat(library.field(rule, 1)) != claim.num_fields
                or not self._same_expr(library.field(rule, 2), claim.rhs)
            ):
                return f"the kernel's {shown} has another rule for {format_name(constructor)}"
        return None

    def _same_expr(self, kernel: Obj, index: int) -> bool:
        """Equality up to names and kinds of bound variables, as Lean's ``Expr`` equality is."""
        return bool(self._library.lean_expr_eqv(kernel, self._terms.expr(index)))


_CONSTANT_KINDS: dict[type, ConstantKind] = {
    Quotient: ConstantKind.QUOT,
    InductiveType: ConstantKind.INDUCTIVE,
    Constructor: ConstantKind.CONSTRUCTOR,
    Recursor: ConstantKind.RECURSOR,
}


def expected_recursors(group: InductiveGroup) -> set[Name]:
    """The names of the recursors of a group: one for each type, and for each nested occurrence
    one more, numbered, under the first type."""
    first = group.types[0]
    return {(*type_.name, "rec") for type_ in group.types} | {
        (*first.name, f"rec_{number}") for number in range(1, first.num_nested + 1)
    }


def quotient_names() -> tuple[Name, ...]:
    """The four constants that `QUOT_DECLARATION` declares."""
    return tuple(QUOT_NAMES.values())


def _shown(names: Sequence[Name]) -> list[str]:
    return [format_name(name) for name in names]
