"""Declarations as data: lean4export NDJSON 3.1.0, read strictly and written canonically.

Needs the standard library only. `read_export` gives an `Export`: `Terms` (flat arrays of names,
levels and expressions) and declarations in file order. `write_export` writes one. On an export
work `used_constants`, `closure`, `shortest_chain`, `digest`, `expr_equal`, `first_difference`.
`TermsBuilder` makes terms by hand.
"""

from lemmata.export.builder import TermsBuilder
from lemmata.export.closure import (
    NAT_LITERAL_CONSTANTS,
    STRING_LITERAL_CONSTANTS,
    Closure,
    ConstantWalk,
    closure,
    linked_constants,
    shortest_chain,
    used_constants,
    used_constants_of_expr,
)
from lemmata.export.declarations import (
    FORMAT_VERSION,
    QUOT_NAMES,
    Axiom,
    Constant,
    Constructor,
    Declaration,
    Definition,
    Export,
    HintKind,
    Hints,
    InductiveGroup,
    InductiveType,
    Meta,
    Opaque,
    Quotient,
    QuotKind,
    Recursor,
    RecursorRule,
    Safety,
    Theorem,
    check_group,
    declaration_terms,
    kind_word,
)
from lemmata.export.digest import constant_digest, digest, expr_digest
from lemmata.export.equality import Difference, ExprComparison, expr_equal, first_difference
from lemmata.export.merge import merged
from lemmata.export.names import ANONYMOUS, Name, format_name, name_key, parse_name
from lemmata.export.printer import format_expr, format_level
from lemmata.export.reader import ReadLimits, read_export
from lemmata.export.terms import CHILD_STEPS, BinderInfo, ExprKind, LevelKind, Terms
from lemmata.export.writer import dependency_order, write_export

__all__ = [
    "ANONYMOUS",
    "CHILD_STEPS",
    "FORMAT_VERSION",
    "NAT_LITERAL_CONSTANTS",
    "QUOT_NAMES",
    "STRING_LITERAL_CONSTANTS",
    "Axiom",
    "BinderInfo",
    "Closure",
    "Constant",
    "ConstantWalk",
    "Constructor",
    "Declaration",
    "Definition",
    "Difference",
    "Export",
    "ExprComparison",
    "ExprKind",
    "HintKind",
    "Hints",
    "InductiveGroup",
    "InductiveType",
    "LevelKind",
    "Meta",
    "Name",
    "Opaque",
    "QuotKind",
    "Quotient",
    "ReadLimits",
    "Recursor",
    "RecursorRule",
    "Safety",
    "Terms",
    "TermsBuilder",
    "Theorem",
    "check_group",
    "closure",
    "constant_digest",
    "declaration_terms",
    "dependency_order",
    "digest",
    "expr_digest",
    "expr_equal",
    "first_difference",
    "format_expr",
    "format_level",
    "format_name",
    "kind_word",
    "linked_constants",
    "merged",
    "name_key",
    "parse_name",
    "read_export",
    "shortest_chain",
    "used_constants",
    "used_constants_of_expr",
    "write_export",
]
