"""Sizes as values: dimension names in a body, shape literals, and the dimensions inside them."""

from __future__ import annotations

from axon.inference.constructs.fractions import combine
from axon.inference.environment import Environment
from axon.inference.unify import floor, unify
from axon.inference.walk import Walk
from axon.solver.constraints import Origin
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import (
    UNKNOWN,
    AtLeast,
    DimEq,
    DimValue,
    ShapeValue,
    Tensor,
    Type,
    shape_size,
)
from axon.types.variables import DimVar, ElemVar
from axon.types.written import EXTREMA, SIZE_SIGNS, apply_written


def named_size(inference: Walk, name: str) -> Type | None:
    """The value of a name bound in an annotation: a dimension, or an entire shape."""
    var = inference.state.names.index.get(name)
    if var is None:
        return None
    return DimValue(var) if isinstance(var, DimVar) else ShapeValue((var,))


def read_shape(inference: Walk, expr: ast.ListExpr, env: Environment) -> Type:
    """A shape literal. A size that might be negative is checked; one that must be is an error."""
    word = tuple(read_dim(inference, item, env) for item in expr.items)
    for dim, item in zip(word, expr.items, strict=True):
        if isinstance(dim, int) and dim < 0:
            inference.error("AX103", f"a size cannot be negative: this one is {dim}", item.span)
        elif not dims.is_nonnegative(dim):
            inference.state.post(AtLeast(dim, silent=True), Origin("size", item.span))
    return ShapeValue(word)


def combined(inference: Walk, node: ast.Infix, left: Type, right: Type) -> Type | None:
    """Sums, products, quotients, remainders and some powers of sizes are sizes."""
    left, right = inference.state.prune(left), inference.state.prune(right)
    if not (isinstance(left, DimValue) and isinstance(right, DimValue)):
        return None
    found = combine(node.op, left, right)
    if found is not None and node.op in ("//", "%") and not isinstance(right.dim, int):
        guard = AtLeast(dims.sub(right.dim, 1), silent=True, why="divisor")
        inference.state.post(guard, Origin("divisor", node.span))
    return found


def negated(inference: Walk, operand: Type) -> Type | None:
    """`-n` of a size is what `0 - n` is."""
    size = inference.state.prune(operand)
    return combine("-", DimValue(0), size) if isinstance(size, DimValue) else None


def read_dim(inference: Walk, expr: ast.Expr, env: Environment) -> Dim:
    """The dimension that an expression denotes: a run-time size where only the run knows it."""
    spine: list[ast.Infix] = []
    while isinstance(expr, ast.Infix) and expr.op in SIZE_SIGNS:
        spine.append(expr)
        expr = expr.left
    value = _operand(inference, expr, env)
    for node in reversed(spine):
        value = _apply(inference, node, value, read_dim(inference, node.right, env))
    return value


def _operand(inference: Walk, expr: ast.Expr, env: Environment) -> Dim:
    match expr:
        case ast.Number(value, "int", _, _):
            return int(value)
        case ast.Negate(operand, _):
            return dims.scale(-1, read_dim(inference, operand, env))
        case ast.Call(ast.Name(name, _), args, (), _) if name in EXTREMA and len(args) > 1:
            return EXTREMA[name](*[read_dim(inference, arg, env) for arg in args])
        case ast.Broken():
            return inference.state.fresh_dim()
        case _:
            type_ = inference.state.prune(inference.infer(expr, env))
            if isinstance(type_, DimValue):
                floor(inference.state, type_, Origin("size", expr.span))
                return type_.dim
            dim = inference.state.fresh_dim()
            unify(inference.state, DimValue(dim), type_, Origin("size", expr.span))
            if inference.record is not None:
                inference.record.data.append((dim, expr))
            return dim


def _apply(inference: Walk, node: ast.Infix, left: Dim, right: Dim) -> Dim:
    written = apply_written(node.op, left, right)
    if written.problem is not None:
        inference.error(*written.problem, node.span)
    if written.guard is not None:
        inference.state.post(written.guard, Origin("divisor", node.span))
    return written.dim


def reshaped(
    inference: Walk, input_: Type, origin: Origin, expr: ast.ListExpr, env: Environment
) -> Type:
    """The target shape of a reshape. One -1 stands for the size that makes it fit: the number of
    elements divided by the product of the other sizes (which must not be zero).

    `origin` is that of the first argument, whose elements are counted.
    """
    state = inference.state
    wild = [i for i, item in enumerate(expr.items) if _is_minus_one(item)]
    if len(wild) != 1:
        if not wild:
            return read_shape(inference, expr, env)
        second = expr.items[wild[1]].span
        inference.error("AX210", "only one size can be -1", second, subject=origin.operator)
        return UNKNOWN
    at = wild[0]
    word = [0 if i == at else read_dim(inference, e, env) for i, e in enumerate(expr.items)]
    shape = (state.fresh_shape(),)
    tensor = Tensor(ElemVar("", state.level), shape)
    unify(state, tensor, input_, origin)
    others = dims.product([dim for i, dim in enumerate(word) if i != at])
    divisor = Origin("divisor", expr.span, origin.operator)
    state.post(AtLeast(dims.sub(others, 1), silent=True), divisor)
    word[at] = state.fresh_dim()
    exact = DimEq(word[at], dims.floordiv(shape_size(shape), others))
    state.post(exact, Origin("size", expr.span, origin.operator))
    return ShapeValue(tuple(word))


def _is_minus_one(item: ast.Expr) -> bool:
    number = item.operand if isinstance(item, ast.Negate) else None
    return isinstance(number, ast.Number) and number.kind == "int" and number.value == 1
