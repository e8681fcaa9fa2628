"""A small export with one of everything, made by hand."""

from __future__ import annotations

import io

from lemmata.export import (
    Axiom,
    BinderInfo,
    Constructor,
    Definition,
    Export,
    HintKind,
    Hints,
    InductiveGroup,
    InductiveType,
    Opaque,
    Recursor,
    RecursorRule,
    Safety,
    TermsBuilder,
    Theorem,
    write_export,
)


def sample() -> Export:
    build = TermsBuilder()
    unit, star, rec = ("My", "Unit"), ("My", "Unit", "star"), ("My", "Unit", "rec")
    u = build.level_param("u")
    type_ = build.const(unit)
    motive = build.forall("t", type_, build.sort(u))
    minor = build.app(build.bvar(0), build.const(star))
    rec_type = build.forall(
        "motive",
        motive,
        build.forall(
            "star", minor, build.forall("t", type_, build.app(build.bvar(2), build.bvar(0)))
        ),
        BinderInfo.IMPLICIT,
    )
    rhs = build.lam("motive", motive, build.lam("star", minor, build.bvar(0)))
    group = InductiveGroup(
        (InductiveType(unit, (), build.type(), 0, 0, (unit,), (star,), 0, False, False, False),),
        (Constructor(star, (), type_, unit, 0, 0, 0, False),),
        (
            Recursor(
                rec, (("u",),), rec_type, (unit,), 0, 0, 1, 1, (RecursorRule(star, 0, rhs),),
                False, False,
            ),
        ),
    )  # fmt: skip
    nat = build.const("Nat")
    value = build.let("x", nat, build.nat(10**30), build.app(build.const("f"), build.bvar(0)))
    statement = build.forall("n", nat, build.app(build.const("Eq", [build.level(1)]), nat))
    hints = Hints(HintKind.REGULAR, 3)
    return Export(
        build.terms,
        (
            group,
            Axiom(("a.b", 3, "c\n"), (), build.prop()),
            Definition(("d",), (), nat, value, hints, Safety.SAFE, (("d",),)),
            Opaque(("o",), (), nat, build.proj("S", 1, build.const("d")), False, (("o",),)),
            Theorem(
                ("t",), (("u",),), statement,
                build.app(build.const("d"), build.string('é"\\\n😀')), (("t",),),
            ),
        ),
    )  # fmt: skip


def text(export: Export | None = None) -> bytes:
    out = io.BytesIO()
    write_export(export or sample(), out)
    return out.getvalue()
