"""Two exports as one: a part of a library, and what was declared over it."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from lemmata.errors import ExportError
from lemmata.export.declarations import (
    Axiom,
    Constructor,
    Declaration,
    Definition,
    Export,
    InductiveGroup,
    InductiveType,
    Opaque,
    Quotient,
    Recursor,
    Theorem,
)
from lemmata.export.names import format_name
from lemmata.export.terms import BinderInfo, ExprKind, LevelKind, Terms

_Member = TypeVar("_Member", InductiveType, Constructor)


def merged(first: Export, second: Export) -> Export:
    """One export with the declarations of both, those of ``first`` first, over new terms.

    Raises `ExportError` if both declare the same constant.
    """
    for name in second.constants:
        if name in first.constants:
            raise ExportError(f"{format_name(name)} is declared twice")
    terms = Terms()
    declarations = [*_copied(first, terms), *_copied(second, terms)]
    return Export(terms, tuple(declarations), second.meta)


def _copied(export: Export, into: Terms) -> list[Declaration]:
    where = _copy_terms(export.terms, into)
    return [_moved(declaration, where) for declaration in export.declarations]


def _copy_terms(source: Terms, into: Terms) -> list[int]:
    """Add all nodes of ``source``; the result maps its expression indices to the new ones."""
    levels: list[int] = []
    for level in range(len(source.level_kinds)):
        children = [levels[child] for child in source.level_children(level)]
        match source.level_kind(level):
            case LevelKind.ZERO:
                levels.append(0)
            case LevelKind.SUCC:
                levels.append(into.add_level_succ(*children))
            case LevelKind.MAX:
                levels.append(into.add_level_max(*children))
            case LevelKind.IMAX:
                levels.append(into.add_level_imax(*children))
            case LevelKind.PARAM:
                levels.append(into.add_level_param(source.level_param(level)))
    where: list[int] = []
    for node in range(len(source)):
        children = [where[child] for child in source.children(node)]
        match source.kind(node):
            case ExprKind.BVAR:
                new = into.add_bvar(source.bvar_index(node))
            case ExprKind.SORT:
                new = into.add_sort(levels[source.sort_level(node)])
            case ExprKind.CONST:
                used = [levels[level] for level in source.const_levels(node)]
                new = into.add_const(source.const_name(node), used)
            case ExprKind.NAT:
                new = into.add_nat_decimal(source.nat_decimal(node))
            case ExprKind.STRING:
                new = into.add_string(source.string_value(node))
            case ExprKind.PROJ:
                new = into.add_proj(source.proj_type(node), source.proj_index(node), *children)
            case ExprKind.APP:
                new = into.add_app(*children)
            case ExprKind.LAM:
                info = BinderInfo(source.binder_info(node))
                new = into.add_lam(source.binder_name(node), children[0], children[1], info)
            case ExprKind.FORALL:
                info = BinderInfo(source.binder_info(node))
                new = into.add_forall(source.binder_name(node), children[0], children[1], info)
            case ExprKind.LET:
                new = into.add_let(source.binder_name(node), *children)
        where.append(new)
    return where


def _moved(declaration: Declaration, where: list[int]) -> Declaration:
    match declaration:
        case Axiom() | Quotient():
            return replace(declaration, type=where[declaration.type])
        case Definition() | Theorem() | Opaque():
            return replace(
                declaration, type=where[declaration.type], value=where[declaration.value]
            )
        case InductiveGroup():
            return InductiveGroup(
                tuple(_retyped(type_, where) for type_ in declaration.types),
                tuple(_retyped(constructor, where) for constructor in declaration.constructors),
                tuple(_moved_recursor(recursor, where) for recursor in declaration.recursors),
            )


def _retyped(member: _Member, where: list[int]) -> _Member:
    return replace(member, type=where[member.type])


def _moved_recursor(recursor: Recursor, where: list[int]) -> Recursor:
    rules = tuple(replace(rule, rhs=where[rule.rhs]) for rule in recursor.rules)
    return replace(recursor, type=where[recursor.type], rules=rules)
