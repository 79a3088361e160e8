"""Operands that a call gives by name: `dropout(x, key=k)` is `dropout(x, k)`."""

from __future__ import annotations

from axon.ops.operator import Operator
from axon.syntax import ast

Exprs = tuple[ast.Expr, ...]
Attributes = tuple[ast.Attribute, ...]


def placed(operator: Operator, exprs: Exprs, attributes: Attributes) -> tuple[Exprs, Attributes]:
    """The operands in their order, and the attributes proper."""
    named = operator.named
    if not named or not attributes:
        return exprs, attributes
    given = sorted(
        [a for a in attributes if a.name in named], key=lambda each: named.index(each.name)
    )
    rest = tuple([a for a in attributes if a.name not in named])
    return (*exprs, *[a.value for a in given]), rest
