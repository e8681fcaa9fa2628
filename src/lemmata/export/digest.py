"""Digests of declarations: equal exactly when the declarations say the same.

A digest is a SHA-256 over content: every node is the hash of its kind, its numbers, its names and
the hashes of its parts (a Merkle tree), so neither index numbers, nor sharing, nor file order
have any influence.
"""

from __future__ import annotations

from hashlib import sha256

from lemmata.export.declarations import (
    Axiom,
    Constant,
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
    kind_word,
)
from lemmata.export.names import Name
from lemmata.export.terms import ExprKind, Terms


def digest(export: Export, name: Name) -> str:
    """The SHA-256, in hexadecimal, of the declaration that declares `name`.

    Covers the kind and every field of the declaration: names, universe parameter names in order,
    types, values, hints, safety, `all` lists, constructors, recursors with their rules, counts
    and flags; for a member of an inductive group, the whole group. Does not cover binder names,
    binder kinds, metadata, the order of constructors and recursors within a group's line, or the
    declarations of the constants it uses. Raises `ExportError` when the export does not declare
    the name.
    """
    declaration = export.declaration(name)
    if isinstance(declaration, InductiveGroup):
        declaration = declaration.canonical()
    return sha256(_declaration(export.terms, declaration)).hexdigest()


def constant_digest(export: Export, constant: Constant) -> str:
    """As `digest`, but of one constant by itself, also within an inductive group."""
    return sha256(_declaration(export.terms, constant)).hexdigest()


def expr_digest(terms: Terms, index: int) -> bytes:
    """The 32 bytes that determine an expression up to binder names and binder kinds."""
    done, digests = terms._digest_done, terms._digests
    if len(done) < len(terms):
        digests.extend(bytes(32 * (len(terms) - len(done))))
        done.extend(bytes(len(terms) - len(done)))
    kinds, a, b, c = terms.kinds, terms.a, terms.b, terms.c
    stack = [index]
    while stack:
        node = stack[-1]
        if done[node]:
            stack.pop()
            continue
        kind = kinds[node]
        if kind >= ExprKind.PROJ:
            depth = len(stack)
            if kind == ExprKind.LET and not done[c[node]]:
                stack.append(c[node])
            if kind > ExprKind.PROJ and not done[b[node]]:
                stack.append(b[node])
            if not done[a[node]]:
                stack.append(a[node])
            if len(stack) > depth:
                continue
        stack.pop()
        digests[32 * node : 32 * node + 32] = sha256(_node(terms, node, kind)).digest()
        done[node] = 1
    return _stored(terms, index)


def _stored(terms: Terms, index: int) -> bytes:
    return bytes(terms._digests[32 * index : 32 * index + 32])


def _node(terms: Terms, node: int, kind: int) -> bytes:
    a, b = terms.a[node], terms.b[node]
    match kind:
        case ExprKind.APP:
            return b"app" + _stored(terms, a) + _stored(terms, b)
        case ExprKind.LAM:
            return b"lam" + _stored(terms, a) + _stored(terms, b)
        case ExprKind.FORALL:
            return b"forall" + _stored(terms, a) + _stored(terms, b)
        case ExprKind.LET:
            return b"let" + _stored(terms, a) + _stored(terms, b) + _stored(terms, terms.c[node])
        case ExprKind.PROJ:
            return b"proj" + _stored(terms, a) + _number(b) + _name(terms.proj_type(node))
        case ExprKind.CONST:
            levels = terms.const_levels(node)
            return (
                b"const"
                + _name(terms.const_name(node))
                + _number(len(levels))
                + b"".join(_level(terms, level) for level in levels)
            )
        case ExprKind.SORT:
            return b"sort" + _level(terms, a)
        case ExprKind.BVAR:
            return b"bvar" + _number(a)
        case ExprKind.NAT:
            return b"nat" + terms.nats[a].encode()
        case _:
            return b"string" + terms.strings[a].encode()


def _level(terms: Terms, level: int) -> bytes:
    # Children of a level have smaller indices, so filling the table in order needs no recursion.
    table = terms._level_digests
    while len(table) <= level:
        index = len(table)
        kind = terms.level_kind(index)
        content = [kind.name.encode(), b" "]
        content += [table[child] for child in terms.level_children(index)]
        if kind.name == "PARAM":
            content.append(_name(terms.level_param(index)))
        table.append(sha256(b"".join(content)).digest())
    return table[level]


# Every encoding below announces its own length, so that no two contents share one text.


def _number(value: int) -> bytes:
    return b"%d;" % value


def _text(text: str) -> bytes:
    data = text.encode()
    return b"%d:" % len(data) + data


def _name(name: Name) -> bytes:
    parts = [_number(len(name))]
    for component in name:
        if isinstance(component, int):
            parts.append(b"n" + _number(component))
        else:
            parts.append(b"s" + _text(component))
    return b"".join(parts)


def _names(names: tuple[Name, ...]) -> bytes:
    return _number(len(names)) + b"".join(map(_name, names))


def _declaration(terms: Terms, declaration: Declaration | Constant) -> bytes:
    if isinstance(declaration, InductiveGroup):
        parts = [_text("group")]
        for members in (declaration.types, declaration.constructors, declaration.recursors):
            parts.append(_number(len(members)))
            parts += [_declaration(terms, member) for member in members]
        return b"".join(parts)
    head = (
        _text(kind_word(declaration))
        + _name(declaration.name)
        + _names(declaration.level_params)
        + expr_digest(terms, declaration.type)
    )
    match declaration:
        case Axiom():
            return head + _number(declaration.is_unsafe)
        case Definition():
            return (
                head
                + expr_digest(terms, declaration.value)
                + _text(declaration.hints.kind.value)
                + _number(declaration.hints.height)
                + _text(declaration.safety.value)
                + _names(declaration.all)
            )
        case Theorem():
            return head + expr_digest(terms, declaration.value) + _names(declaration.all)
        case Opaque():
            return (
                head
                + expr_digest(terms, declaration.value)
                + _number(declaration.is_unsafe)
                + _names(declaration.all)
            )
        case Quotient():
            return head + _text(declaration.kind.value)
        case InductiveType():
            return (
                head
                + _number(declaration.num_params)
                + _number(declaration.num_indices)
                + _names(declaration.all)
                + _names(declaration.constructors)
                + _number(declaration.num_nested)
                + _number(declaration.is_recursive)
                + _number(declaration.is_unsafe)
                + _number(declaration.is_reflexive)
            )
        case Constructor():
            return (
                head
                + _name(declaration.induct)
                + _number(declaration.index)
                + _number(declaration.num_params)
                + _number(declaration.num_fields)
                + _number(declaration.is_unsafe)
            )
        case Recursor():
            rules = [
                _name(rule.constructor) + _number(rule.num_fields) + expr_digest(terms, rule.rhs)
                for rule in declaration.rules
            ]
            return (
                head
                + _names(declaration.all)
                + _number(declaration.num_params)
                + _number(declaration.num_indices)
                + _number(declaration.num_motives)
                + _number(declaration.num_minors)
                + _number(len(rules))
                + b"".join(rules)
                + _number(declaration.k)
                + _number(declaration.is_unsafe)
            )
