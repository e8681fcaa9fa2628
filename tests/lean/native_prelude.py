"""A small library for tests of the native kernel, built by hand over `Terms`.

It declares what a base must have (the primitives, most of them as axioms, since the kernel
computes them by name anyway) and equality. The recursors are read back from the kernel, which
generates them; `test_native_kernel` compares some with hand-written ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from lemmata.export import (
    Axiom,
    BinderInfo,
    Constructor,
    Declaration,
    Definition,
    Export,
    HintKind,
    Hints,
    InductiveGroup,
    InductiveType,
    Meta,
    Name,
    Opaque,
    Quotient,
    QuotKind,
    Recursor,
    RecursorRule,
    Safety,
    Terms,
    Theorem,
    parse_name,
    write_export,
)
from lemmata.lean.native.declarations import DeclarationObjects, expected_recursors
from lemmata.lean.native.ffi import Library, Obj
from lemmata.lean.native.kernel import KernelEnvironment
from lemmata.lean.native.terms import TermObjects

D = TypeVar("D", bound=Declaration)

U = ("u",)
V = ("v",)
X = ("x",)


class TermReader:
    """Lean expression objects as nodes of a `Terms`."""

    def __init__(self, library: Library, terms: Terms) -> None:
        self._library = library
        self._terms = terms
        self._seen: dict[Obj, int] = {}

    def level(self, obj: Obj) -> int:
        library, terms = self._library, self._terms
        match library.tag(obj):
            case 0:
                return 0
            case 1:
                return terms.add_level_succ(self.level(library.field(obj, 0)))
            case 2:
                left, right = library.field(obj, 0), library.field(obj, 1)
                return terms.add_level_max(self.level(left), self.level(right))
            case 3:
                left, right = library.field(obj, 0), library.field(obj, 1)
                return terms.add_level_imax(self.level(left), self.level(right))
            case tag:
                assert tag == 4
                return terms.add_level_param(library.read_name(library.field(obj, 0)))

    def expr(self, obj: Obj) -> int:
        if obj not in self._seen:
            self._seen[obj] = self._expr(obj)
        return self._seen[obj]

    def _expr(self, obj: Obj) -> int:
        library, terms = self._library, self._terms
        fields = [library.field(obj, index) for index in range(4)]
        match library.tag(obj):
            case 0:
                return terms.add_bvar(library.read_nat(fields[0]))
            case 3:
                return terms.add_sort(self.level(fields[0]))
            case 4:
                levels = [self.level(level) for level in library.items(fields[1])]
                return terms.add_const(library.read_name(fields[0]), levels)
            case 5:
                return terms.add_app(self.expr(fields[0]), self.expr(fields[1]))
            case 6 | 7 as tag:
                # After the three fields come eight bytes of cached data, then the binder info.
                info = BinderInfo(library.scalar_byte(obj, 8))
                add = terms.add_lam if tag == 6 else terms.add_forall
                name = library.read_name(fields[0])
                return add(name, self.expr(fields[1]), self.expr(fields[2]), info)
            case 8:
                # After the four fields come eight bytes of cached data, then the flag `nondep`.
                assert library.scalar_byte(obj, 8) == 0
                type_, value, body = map(self.expr, fields[1:])
                return terms.add_let(library.read_name(fields[0]), type_, value, body)
            case 9:
                literal = fields[0]
                value = library.field(literal, 0)
                if library.tag(literal) == 0:
                    return terms.add_nat(library.read_nat(value))
                return terms.add_string(library.read_string(value))
            case 11:
                name = library.read_name(fields[0])
                return terms.add_proj(name, library.read_nat(fields[1]), self.expr(fields[2]))
            case tag:
                raise AssertionError(f"unexpected expression constructor {tag}")


@dataclass
class Builder:
    """Terms and declarations of one export, with short names for the usual moves."""

    library: Library
    terms: Terms = field(default_factory=Terms)
    declarations: list[Declaration] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prop = self.terms.add_sort(0)
        self.one = self.terms.add_level_succ(0)
        self.type = self.terms.add_sort(self.one)
        self.u = self.terms.add_level_param(U)

    # Terms.

    def const(self, name: str, *levels: int) -> int:
        return self.terms.add_const(parse_name(name), levels)

    def app(self, fn: int | str, *args: int) -> int:
        result = self.const(fn) if isinstance(fn, str) else fn
        for arg in args:
            result = self.terms.add_app(result, arg)
        return result

    def var(self, index: int) -> int:
        return self.terms.add_bvar(index)

    def arrow(self, *types: int) -> int:
        """``A → B → C`` for closed types."""
        *domains, result = types
        for domain in reversed(domains):
            result = self.terms.add_forall(X, domain, result)
        return result

    def pi(self, domain: int, body: int) -> int:
        return self.terms.add_forall(X, domain, body)

    def lam(self, domain: int, body: int) -> int:
        return self.terms.add_lam(X, domain, body)

    def nat(self, value: int) -> int:
        return self.terms.add_nat(value)

    def eq(self, type_: int, left: int, right: int) -> int:
        return self.app(self.const("Eq", self.one), type_, left, right)

    def refl(self, type_: int, value: int) -> int:
        return self.app(self.const("Eq.refl", self.one), type_, value)

    def nat_eq(self, left: int, right: int) -> int:
        return self.eq(self.const("Nat"), left, right)

    # Declarations.

    def axiom(self, name: str, type_: int, params: Sequence[Name] = ()) -> Axiom:
        return self._add(Axiom(parse_name(name), tuple(params), type_))

    def theorem(self, name: str, type_: int, value: int, params: Sequence[Name] = ()) -> Theorem:
        parsed = parse_name(name)
        return self._add(Theorem(parsed, tuple(params), type_, value, (parsed,)))

    def definition(
        self,
        name: str,
        type_: int,
        value: int,
        params: Sequence[Name] = (),
        safety: Safety = Safety.SAFE,
        all_names: Sequence[str] = (),
    ) -> Definition:
        parsed = parse_name(name)
        group = tuple(map(parse_name, all_names)) or (parsed,)
        hints = Hints(HintKind.REGULAR, 1)
        return self._add(Definition(parsed, tuple(params), type_, value, hints, safety, group))

    def opaque(self, name: str, type_: int, value: int) -> Opaque:
        parsed = parse_name(name)
        return self._add(Opaque(parsed, (), type_, value, False, (parsed,)))

    def group(
        self,
        types: Sequence[tuple[str, int, Sequence[tuple[str, int]]]],
        params: Sequence[Name] = (),
        num_params: int = 0,
        *,
        is_unsafe: bool = False,
    ) -> InductiveGroup:
        """An inductive group without recursors, as little of it right as the kernel needs."""
        names = tuple(parse_name(name) for name, _, _ in types)
        type_claims, constructor_claims = [], []
        for name, (_, type_, constructors) in zip(names, types, strict=True):
            own = tuple((*name, short) for short, _ in constructors)
            type_claims.append(
                InductiveType(
                    name,
                    tuple(params),
                    type_,
                    num_params,
                    0,
                    names,
                    own,
                    0,
                    False,
                    is_unsafe,
                    False,
                )
            )
            for index, (short, constructor_type) in enumerate(constructors):
                constructor_claims.append(
                    Constructor(
                        (*name, short),
                        tuple(params),
                        constructor_type,
                        name,
                        index,
                        num_params,
                        0,
                        is_unsafe,
                    )
                )
        return InductiveGroup(tuple(type_claims), tuple(constructor_claims), ())

    def inductive(self, group: InductiveGroup) -> InductiveGroup:
        """Declare a group with what the kernel generates for it over the declarations so far."""
        environment = KernelEnvironment(self.library, None, quot_initialised=False)
        objects = DeclarationObjects(self.library, TermObjects(self.library, self.terms))
        for declaration in self.declarations:
            match declaration:
                case Axiom():
                    refusal = environment.add(objects.axiom(declaration), 0, 0)
                case InductiveGroup():
                    refusal = environment.add(objects.inductive(declaration), 0, 0)
                case Definition():
                    refusal = environment.add(objects.definition(declaration), 0, 0)
                case _:
                    continue
            assert refusal is None, refusal
        refusal = environment.add(objects.inductive(group), 0, 0)
        assert refusal is None, refusal
        return self._add(generated_group(self.library, self.terms, environment, group))

    def raw(self, declaration: Declaration) -> None:
        self._add(declaration)

    def export(self) -> Export:
        return Export(self.terms, tuple(self.declarations), Meta(lean_version="4.28.0"))

    def write(self, path: Path) -> Path:
        with path.open("wb") as out:
            write_export(self.export(), out)
        return path

    def _add(self, declaration: D) -> D:
        self.declarations.append(declaration)
        return declaration


def generated_group(
    library: Library, terms: Terms, environment: KernelEnvironment, group: InductiveGroup
) -> InductiveGroup:
    """The group as an environment has it, recursors and all."""
    reader = TermReader(library, terms)

    def value(name: Name) -> Obj:
        info = environment.find(name)
        assert info is not None, name
        return library.field(info, 0)

    def head(name: Name) -> tuple[tuple[Name, ...], int]:
        constant = library.field(value(name), 0)
        params = library.read_names(library.field(constant, 1))
        return params, reader.expr(library.field(constant, 2))

    def nat(name: Name, index: int) -> int:
        return library.read_nat(library.field(value(name), index))

    def flag(name: Name, offset: int) -> bool:
        return bool(library.scalar_byte(value(name), offset))

    types = tuple(
        replace(
            type_,
            num_indices=nat(type_.name, 2),
            num_nested=nat(type_.name, 5),
            is_recursive=flag(type_.name, 0),
            is_reflexive=flag(type_.name, 2),
        )
        for type_ in group.types
    )
    constructors = tuple(replace(ctor, num_fields=nat(ctor.name, 4)) for ctor in group.constructors)
    recursors = []
    for name in expected_recursors(InductiveGroup(types, (), ())):
        params, type_ = head(name)
        rules = tuple(
            RecursorRule(
                library.read_name(library.field(rule, 0)),
                library.read_nat(library.field(rule, 1)),
                reader.expr(library.field(rule, 2)),
            )
            for rule in library.items(library.field(value(name), 6))
        )
        recursors.append(
            Recursor(
                name,
                params,
                type_,
                library.read_names(library.field(value(name), 1)),
                nat(name, 2),
                nat(name, 3),
                nat(name, 4),
                nat(name, 5),
                rules,
                flag(name, 0),
                flag(name, 1),
            )
        )
    return InductiveGroup(types, constructors, tuple(recursors)).canonical()


BINARY_OPERATIONS = (
    *("add", "sub", "mul", "div", "mod", "gcd", "pow"),
    *("land", "lor", "xor", "shiftLeft", "shiftRight"),
)


def declare_prelude(builder: Builder) -> None:
    """What every base must have, `Eq`, `False`, `And` and `List`."""
    terms, type_, prop, u = builder.terms, builder.type, builder.prop, builder.u
    const, arrow, var, pi, app = (
        builder.const,
        builder.arrow,
        builder.var,
        builder.pi,
        builder.app,
    )
    boolean, nat = const("Bool"), const("Nat")
    builder.inductive(builder.group([("Bool", type_, [("false", boolean), ("true", boolean)])]))
    builder.inductive(builder.group([("Nat", type_, [("zero", nat), ("succ", arrow(nat, nat))])]))
    builder.inductive(builder.group([("False", prop, [])]))
    and_type = arrow(prop, prop, prop)
    and_intro = pi(prop, pi(prop, pi(var(1), pi(var(1), app("And", var(3), var(2))))))
    builder.inductive(builder.group([("And", and_type, [("intro", and_intro)])], num_params=2))
    sort_u = terms.add_sort(u)
    eq = const("Eq", u)
    builder.inductive(
        builder.group(
            [
                (
                    "Eq",
                    pi(sort_u, pi(var(0), pi(var(1), prop))),
                    [("refl", pi(sort_u, pi(var(0), app(eq, var(1), var(0), var(0)))))],
                )
            ],
            params=[U],
            num_params=2,
        )
    )
    type_u = terms.add_sort(terms.add_level_succ(u))
    list_ = const("List", u)
    builder.inductive(
        builder.group(
            [
                (
                    "List",
                    arrow(type_u, type_u),
                    [
                        ("nil", pi(type_u, app(list_, var(0)))),
                        (
                            "cons",
                            pi(
                                type_u,
                                pi(var(0), pi(app(list_, var(1)), app(list_, var(2)))),
                            ),
                        ),
                    ],
                )
            ],
            params=[U],
            num_params=1,
        )
    )
    for operation in BINARY_OPERATIONS:
        builder.axiom(f"Nat.{operation}", arrow(nat, nat, nat))
    for operation in ("beq", "ble"):
        builder.axiom(f"Nat.{operation}", arrow(nat, nat, boolean))
    builder.axiom("Nat.log2", arrow(nat, nat))
    char, string = const("Char"), const("String")
    builder.axiom("Char", type_)
    builder.axiom("Char.ofNat", arrow(nat, char))
    builder.axiom("String", type_)
    builder.axiom("String.ofList", arrow(app(const("List", 0), char), string))
    builder.axiom("eagerReduce", pi(sort_u, pi(var(0), var(1))), params=[U])


def quotients(builder: Builder) -> tuple[Quotient, ...]:
    """The four quotient primitives, as every Lean library declares them."""
    terms, prop, var, pi, app = builder.terms, builder.prop, builder.var, builder.pi, builder.app
    sort_u, sort_v = terms.add_sort(builder.u), terms.add_sort(terms.add_level_param(V))
    quot = builder.const("Quot", builder.u)
    mk = builder.const("Quot.mk", builder.u)
    relation = pi(var(0), pi(var(1), prop))
    # Under α, r, β, f, a, b: the innermost variable is 0.
    related = app(var(4), var(1), var(0))
    same = app(
        builder.const("Eq", terms.add_level_param(V)),
        var(4),
        app(var(3), var(2)),
        app(var(3), var(1)),
    )
    respects = pi(var(3), pi(var(4), pi(related, same)))
    lift = pi(
        sort_u,
        pi(
            relation,
            pi(
                sort_v,
                pi(
                    pi(var(2), var(1)),
                    pi(respects, pi(app(quot, var(4), var(3)), var(3))),
                ),
            ),
        ),
    )
    motive = pi(app(quot, var(1), var(0)), prop)
    minor = pi(var(2), app(var(1), app(mk, var(3), var(2), var(0))))
    ind = pi(
        sort_u,
        pi(
            relation,
            pi(motive, pi(minor, pi(app(quot, var(3), var(2)), app(var(2), var(0))))),
        ),
    )
    return (
        Quotient(("Quot",), (U,), pi(sort_u, pi(relation, sort_u)), QuotKind.TYPE),
        Quotient(
            ("Quot", "mk"),
            (U,),
            pi(sort_u, pi(relation, pi(var(1), app(quot, var(2), var(1))))),
            QuotKind.CTOR,
        ),
        Quotient(("Quot", "lift"), (U, V), lift, QuotKind.LIFT),
        Quotient(("Quot", "ind"), (U,), ind, QuotKind.IND),
    )
