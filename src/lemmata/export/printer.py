"""A short readable text of an expression, for messages. Not meant to be parsed back."""

from __future__ import annotations

from typing import TypeAlias

from lemmata.export.names import Name, format_name
from lemmata.export.terms import BinderInfo, ExprKind, LevelKind, Terms

_BRACKETS = {
    BinderInfo.DEFAULT: ("(", ")"),
    BinderInfo.IMPLICIT: ("{", "}"),
    BinderInfo.STRICT_IMPLICIT: ("⦃", "⦄"),
    BinderInfo.INST_IMPLICIT: ("[", "]"),
}
_ELLIPSIS = "…"

# The binders around a sub-expression, innermost first.
_Scope: TypeAlias = "tuple[str, _Scope] | None"
# A sub-expression, its scope, and how tightly its position binds.
_Part: TypeAlias = "tuple[int, _Scope, int]"

# How tightly a position binds: whole terms, function positions, argument positions.
_TERM, _FUNCTION, _ARGUMENT = 0, 1, 2


def format_level(terms: Terms, level: int, limit: int = 200) -> str:
    """A level as text of at most `limit` characters: ``0``, ``u+1``, ``max u v``."""
    out = _Output(limit)
    work: list[str | int] = [level]
    while work and not out.full:
        item = work.pop()
        if isinstance(item, str):
            out.write(item)
            continue
        offset = 0
        while terms.level_kinds[item] == LevelKind.SUCC:
            item = terms.level_a[item]
            offset += 1
        kind = terms.level_kinds[item]
        suffix = f"+{offset}" if offset else ""
        if kind == LevelKind.ZERO:
            out.write(str(offset))
        elif kind == LevelKind.PARAM:
            out.write(format_name(terms.level_param(item)) + suffix)
        else:
            word = "max" if kind == LevelKind.MAX else "imax"
            first, second = terms.level_children(item)
            out.write(f"({word} ")
            work += [")" + suffix, second, " ", first]
    return out.text()


def format_expr(terms: Terms, index: int, limit: int = 400) -> str:
    """An expression as text of at most `limit` characters, ending in ``…`` when cut off.

    Binders keep their names, with a number appended where a name would hide another one; a loose
    bound variable is ``#i``. The work is bounded by `limit`, whatever the size of the term.
    """
    out = _Output(limit)
    work: list[str | _Part] = [(index, None, _TERM)]
    while work and not out.full:
        item = work.pop()
        if isinstance(item, str):
            out.write(item)
        else:
            work += reversed(_pieces(terms, item, out.room))
    return out.text()


class _Output:
    """Text that stops growing at a limit."""

    def __init__(self, limit: int) -> None:
        self.room = limit
        self.full = False
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        if len(text) > self.room:
            self.full = True
        self._parts.append(text[: self.room])
        self.room -= min(len(text), self.room)

    def text(self) -> str:
        text = "".join(self._parts)
        return text[:-1] + _ELLIPSIS if self.full else text


def _pieces(terms: Terms, at: _Part, room: int) -> list[str | _Part]:
    """One layer of a term: text and sub-terms, from left to right."""
    index, scope, position = at
    kind = terms.kind(index)
    match kind:
        case ExprKind.BVAR:
            return [_variable(scope, terms.bvar_index(index))]
        case ExprKind.NAT:
            return [terms.nat_decimal(index)[: room + 1]]
        case ExprKind.STRING:
            return [_string(terms.string_value(index)[: room + 1])]
        case ExprKind.CONST:
            levels = terms.const_levels(index)
            text = format_name(terms.const_name(index))
            if levels:
                shown = ", ".join(format_level(terms, level, 40) for level in levels[:8])
                text += f".{{{shown}}}" if len(levels) <= 8 else f".{{{shown}, {_ELLIPSIS}}}"
            return [text]
        case ExprKind.SORT:
            level = format_level(terms, terms.sort_level(index), 40)
            return ["Prop"] if level == "0" else _wrap([f"Sort {level}"], position == _ARGUMENT)
        case ExprKind.PROJ:
            # A chain of projections prints nothing before its innermost structure.
            fields: list[str] = []
            while terms.kinds[index] == ExprKind.PROJ:
                owner = format_name(terms.proj_type(index))
                fields.append(f".{terms.proj_index(index) + 1}[{owner}]")
                index = terms.proj_struct(index)
                if len(fields) > room:
                    return [_ELLIPSIS * (room + 1)]
            return [(index, scope, _ARGUMENT), *reversed(fields)]
        case ExprKind.APP:
            # Applications nest to the left; unrolling the spine keeps the work list short.
            args: list[int] = []
            while terms.kinds[index] == ExprKind.APP:
                args.append(terms.app_arg(index))
                index = terms.app_fn(index)
                if len(args) > room:
                    return [_ELLIPSIS * (room + 1)]
            pieces: list[str | _Part] = [(index, scope, _FUNCTION)]
            for arg in reversed(args):
                pieces += [" ", (arg, scope, _ARGUMENT)]
            return _wrap(pieces, position == _ARGUMENT)
        case ExprKind.LET:
            name = _fresh(terms.binder_name(index), scope)
            return _wrap(
                [
                    f"let {name} : ",
                    (terms.binder_type(index), scope, _TERM),
                    " := ",
                    (terms.let_value(index), scope, _TERM),
                    "; ",
                    (terms.let_body(index), (name, scope), _TERM),
                ],
                position != _TERM,
            )
        case ExprKind.LAM | ExprKind.FORALL:
            name = _fresh(terms.binder_name(index), scope)
            opening, closing = _BRACKETS[terms.binder_info(index)]
            word, link = ("fun", " => ") if kind is ExprKind.LAM else ("∀", ", ")
            return _wrap(
                [
                    f"{word} {opening}{name} : ",
                    (terms.binder_type(index), scope, _TERM),
                    f"{closing}{link}",
                    (terms.binder_body(index), (name, scope), _TERM),
                ],
                position != _TERM,
            )


def _wrap(pieces: list[str | _Part], needed: bool) -> list[str | _Part]:
    return ["(", *pieces, ")"] if needed else pieces


def _variable(scope: _Scope, index: int) -> str:
    depth = index
    while scope is not None:
        if depth == 0:
            return scope[0]
        depth -= 1
        scope = scope[1]
    return f"#{depth}"


def _fresh(name: Name, scope: _Scope) -> str:
    text = format_name(name) if name else "_"
    taken = set()
    while scope is not None:
        taken.add(scope[0])
        scope = scope[1]
    if text not in taken:
        return text
    number = 1
    while f"{text}_{number}" in taken:
        number += 1
    return f"{text}_{number}"


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(
            character if character.isprintable() else f"\\u{{{ord(character):x}}}"
            for character in escaped
        )
        + '"'
    )
