"""Sizes that the program computes: the tensors in them are evaluated, and their values are sizes
from then on.
"""

from __future__ import annotations

from axon.graph.convert import coerce
from axon.graph.graph import Measure
from axon.graph.scope import Scope
from axon.graph.walk import Walk
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.type import DimValue, Tensor
from axon.types.written import EXTREMA, SIZE_SIGNS


def measure(lowering: Walk, expr: ast.Expr, scope: Scope) -> None:
    """Compute the tensors inside a size, or a list of them: their values are sizes from here on."""
    state = lowering.state
    elaboration = state.elaboration
    for dim, source in elaboration.record.data:
        if source is expr:
            number = coerce(state, lowering.expr(expr, scope), Tensor("i64", ()))
            size = elaboration.as_made(DimValue(dim))
            assert isinstance(size, DimValue)
            state.shared.made |= set(dims.variables(size.dim))
            state.emit(Measure(number, (size.dim,), span=expr.span))
            return
    match expr:
        case ast.ListExpr(items, _):
            for item in items:
                measure(lowering, item, scope)
        case ast.Infix(op, left, right, _, _) if op in SIZE_SIGNS:
            while isinstance(left, ast.Infix) and left.op in SIZE_SIGNS:
                measure(lowering, left.right, scope)
                left = left.left
            measure(lowering, left, scope)
            measure(lowering, right, scope)
        case ast.Negate(operand, _):
            measure(lowering, operand, scope)
        case ast.Call(ast.Name(name, _), args, (), _) if name in EXTREMA and len(args) > 1:
            for arg in args:
                measure(lowering, arg, scope)
        case _ if id(expr) in elaboration.record.types:
            # a size by name, or `size(x)`: what it is of must have been computed
            if isinstance(state.type_of(expr), DimValue) and isinstance(
                expr, ast.Call | ast.Subscript
            ):
                lowering.expr(expr, scope)
        case _:
            pass
