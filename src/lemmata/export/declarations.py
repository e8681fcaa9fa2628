"""Declarations as data: what one line of an export (other than a primitive) says.

Names are structural, terms are indices into the `Terms` of the export they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from lemmata.errors import ExportError
from lemmata.export.names import Name, format_name, name_key
from lemmata.export.terms import Terms

FORMAT_VERSION = "3.1.0"


class Safety(Enum):
    """Whether a definition is checked as sound (SAFE), or kept apart from what is (the others)."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    PARTIAL = "partial"


class HintKind(Enum):
    """When the definitional unfolding of a definition is tried."""

    OPAQUE = "opaque"
    ABBREV = "abbrev"
    REGULAR = "regular"


class QuotKind(Enum):
    """Which of the four quotient primitives; the order is the order of declaration."""

    TYPE = "type"
    CTOR = "ctor"
    LIFT = "lift"
    IND = "ind"


QUOT_NAMES: dict[QuotKind, Name] = {
    QuotKind.TYPE: ("Quot",),
    QuotKind.CTOR: ("Quot", "mk"),
    QuotKind.LIFT: ("Quot", "lift"),
    QuotKind.IND: ("Quot", "ind"),
}


@dataclass(frozen=True, slots=True)
class Hints:
    """Reducibility hints; ``height`` is 0 unless the kind is REGULAR."""

    kind: HintKind
    height: int = 0


@dataclass(frozen=True, slots=True)
class Axiom:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    is_unsafe: bool = False

    def names(self) -> tuple[Name, ...]:
        """Every constant this declares."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Definition:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    value: int
    hints: Hints
    safety: Safety
    all: tuple[Name, ...]

    def names(self) -> tuple[Name, ...]:
        """Every constant this declares."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Theorem:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    value: int
    all: tuple[Name, ...]

    def names(self) -> tuple[Name, ...]:
        """Every constant this declares."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Opaque:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    value: int
    is_unsafe: bool
    all: tuple[Name, ...]

    def names(self) -> tuple[Name, ...]:
        """Every constant this declares."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Quotient:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    kind: QuotKind

    def names(self) -> tuple[Name, ...]:
        """Every constant this declares."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class InductiveType:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    num_params: int
    num_indices: int
    all: tuple[Name, ...]
    constructors: tuple[Name, ...]
    num_nested: int
    is_recursive: bool
    is_unsafe: bool
    is_reflexive: bool


@dataclass(frozen=True, slots=True)
class Constructor:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    induct: Name
    index: int
    num_params: int
    num_fields: int
    is_unsafe: bool


@dataclass(frozen=True, slots=True)
class RecursorRule:
    constructor: Name
    num_fields: int
    rhs: int


@dataclass(frozen=True, slots=True)
class Recursor:
    name: Name
    level_params: tuple[Name, ...]
    type: int
    all: tuple[Name, ...]
    num_params: int
    num_indices: int
    num_motives: int
    num_minors: int
    rules: tuple[RecursorRule, ...]
    k: bool
    is_unsafe: bool


@dataclass(frozen=True, slots=True)
class InductiveGroup:
    """One mutual group: types in the order of `all`, constructors by type and index, recursors
    by name. `canonical` establishes that order; `read_export` returns groups that have it."""

    types: tuple[InductiveType, ...]
    constructors: tuple[Constructor, ...]
    recursors: tuple[Recursor, ...]

    def names(self) -> tuple[Name, ...]:
        """Every constant this declares."""
        return tuple(member.name for member in self.members())

    def members(self) -> tuple[InductiveType | Constructor | Recursor, ...]:
        return (*self.types, *self.constructors, *self.recursors)

    def canonical(self) -> InductiveGroup:
        """The same group in its canonical order."""
        position = {type_.name: index for index, type_ in enumerate(self.types)}
        return replace(
            self,
            constructors=tuple(
                sorted(
                    self.constructors,
                    key=lambda ctor: (position.get(ctor.induct, len(position)), ctor.index),
                )
            ),
            recursors=tuple(sorted(self.recursors, key=lambda rec: name_key(rec.name))),
        )


Declaration: TypeAlias = Axiom | Definition | Theorem | Opaque | Quotient | InductiveGroup
"""What one line declares and the kernel adds as a unit (the quotients count as four)."""

Constant: TypeAlias = (
    Axiom | Definition | Theorem | Opaque | Quotient | InductiveType | Constructor | Recursor
)
"""What a name refers to."""

_KIND_WORDS: dict[type, str] = {
    Axiom: "axiom",
    Definition: "definition",
    Theorem: "theorem",
    Opaque: "opaque",
    Quotient: "quot",
    InductiveGroup: "inductive",
    InductiveType: "inductive",
    Constructor: "constructor",
    Recursor: "recursor",
}


def kind_word(constant: Constant | Declaration) -> str:
    """``axiom``, ``definition``, ``theorem``, ``opaque``, ``quot``, ``inductive``,
    ``constructor`` or ``recursor``."""
    return _KIND_WORDS[type(constant)]


@dataclass(frozen=True, slots=True)
class Meta:
    """The first line: who wrote the export, with which Lean, in which format."""

    exporter_name: str = "lemmata"
    exporter_version: str = "0.1.0"
    lean_version: str = ""
    lean_githash: str = ""
    format_version: str = FORMAT_VERSION


@dataclass(frozen=True)
class Export:
    """A set of declarations over one table of terms.

    ``lines`` holds the 1-based line of each declaration when it came from a file, else nothing.
    """

    terms: Terms
    declarations: tuple[Declaration, ...]
    meta: Meta = Meta()
    lines: tuple[int, ...] = ()

    @cached_property
    def positions(self) -> dict[Name, int]:
        """Constant → position of its declaration. Raises `ExportError` for a name declared
        twice, which cannot happen for an export that was read."""
        positions: dict[Name, int] = {}
        for position, declaration in enumerate(self.declarations):
            for name in declaration.names():
                if name in positions:
                    raise ExportError(f"{format_name(name)} is declared twice")
                positions[name] = position
        return positions

    @cached_property
    def constants(self) -> dict[Name, Constant]:
        """Every constant by name, members of inductive groups one by one."""
        constants: dict[Name, Constant] = {}
        for declaration in self.declarations:
            if isinstance(declaration, InductiveGroup):
                constants.update((member.name, member) for member in declaration.members())
            else:
                constants[declaration.name] = declaration
        return constants

    def declaration(self, name: Name) -> Declaration:
        """The declaration that declares a constant. Raises `ExportError` if there is none."""
        try:
            return self.declarations[self.positions[name]]
        except KeyError:
            raise ExportError(f"the export does not declare {format_name(name)}") from None

    def line(self, name: Name) -> int:
        """The line that declares a constant, 0 if unknown."""
        position = self.positions.get(name)
        return self.lines[position] if position is not None and self.lines else 0


def declaration_terms(declaration: Declaration | Constant) -> tuple[int, ...]:
    """The expressions a declaration or constant consists of, in a fixed order."""
    match declaration:
        case Axiom() | Quotient() | InductiveType() | Constructor():
            return (declaration.type,)
        case Definition() | Theorem() | Opaque():
            return (declaration.type, declaration.value)
        case Recursor():
            return (declaration.type, *(rule.rhs for rule in declaration.rules))
        case InductiveGroup():
            return tuple(
                term for member in declaration.members() for term in declaration_terms(member)
            )


def _unique(names: Iterable[Name]) -> bool:
    listed = list(names)
    return len(set(listed)) == len(listed)


def check_group(group: InductiveGroup) -> None:
    """Raise `ExportError` unless the parts of a group agree with each other.

    Checked: one `all` list, that of the types in order; the same universe parameters, number of
    parameters and safety throughout types and constructors; each constructor listed by its type
    at its own index, and nothing listed that is not there; recursors with the group's `all`,
    parameters and safety; one rule per constructor at most, with the constructor's field count
    where the constructor is of the group. What only a type theory can know (types, field counts,
    motives, rules, flags) is for the kernel.
    """
    if not group.types:
        raise ExportError("an inductive group has no types")
    all_names = tuple(type_.name for type_ in group.types)
    first = group.types[0]
    by_name = {ctor.name: ctor for ctor in group.constructors}
    if not _unique(member.name for member in group.members()):
        raise ExportError(f"a name is declared twice in the group of {format_name(first.name)}")
    listed = 0
    for type_ in group.types:
        shown = format_name(type_.name)
        if type_.all != all_names:
            raise ExportError(f"the `all` list of {shown} is not the list of types of its group")
        if type_.num_params != first.num_params:
            raise ExportError(f"{shown} has another number of parameters than its group")
        if type_.level_params != first.level_params:
            raise ExportError(f"{shown} has other universe parameters than its group")
        if type_.is_unsafe != first.is_unsafe:
            raise ExportError(f"{shown} has another safety than its group")
        for index, ctor_name in enumerate(type_.constructors):
            ctor = by_name.get(ctor_name)
            if ctor is None:
                raise ExportError(
                    f"{shown} lists the constructor {format_name(ctor_name)}, which its group"
                    " does not contain"
                )
            if ctor.induct != type_.name or ctor.index != index:
                raise ExportError(
                    f"the constructor {format_name(ctor_name)} does not say that it is"
                    f" constructor {index} of {shown}"
                )
        listed += len(type_.constructors)
    if listed != len(group.constructors):
        raise ExportError(
            f"the group of {format_name(first.name)} contains a constructor that no type lists"
        )
    for ctor in group.constructors:
        shown = format_name(ctor.name)
        if ctor.num_params != first.num_params:
            raise ExportError(f"{shown} has another number of parameters than its type")
        if ctor.level_params != first.level_params:
            raise ExportError(f"{shown} has other universe parameters than its type")
        if ctor.is_unsafe != first.is_unsafe:
            raise ExportError(f"{shown} has another safety than its type")
    for rec in group.recursors:
        shown = format_name(rec.name)
        if rec.all != all_names:
            raise ExportError(f"the `all` list of {shown} is not the list of types of its group")
        if rec.num_params != first.num_params:
            raise ExportError(f"{shown} has another number of parameters than its types")
        if rec.is_unsafe != first.is_unsafe:
            raise ExportError(f"{shown} has another safety than its types")
        if not _unique(rule.constructor for rule in rec.rules):
            raise ExportError(f"{shown} has two rules for one constructor")
        for rule in rec.rules:
            own = by_name.get(rule.constructor)
            if own is not None and own.num_fields != rule.num_fields:
                raise ExportError(
                    f"the rule of {shown} for {format_name(rule.constructor)} has another number"
                    " of fields than the constructor"
                )
