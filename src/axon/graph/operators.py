"""Operators: their operands, their attributes, and the nodes that they become."""

from __future__ import annotations

from axon.graph import ragged
from axon.graph.convert import coerce
from axon.graph.graph import Apply, Measure, Operand, ShapeOf, SizeOf, Value
from axon.graph.measure import measure
from axon.graph.scope import Scope
from axon.graph.state import State
from axon.graph.walk import Walk
from axon.inference.record import Use
from axon.ops import Operator
from axon.ops.levels import first_by_row
from axon.ops.named import placed
from axon.source import Span
from axon.syntax import ast
from axon.types.dim import Dim
from axon.types.type import DimValue, Fn, Shape, ShapeValue, Tensor, Type
from axon.types.variables import DimVar


def use_operator(
    lowering: Walk,
    use: Use,
    exprs: tuple[ast.Expr, ...],
    attributes: tuple[ast.Attribute, ...],
    span: Span,
    scope: Scope,
) -> Operand:
    """An operator that the program applies to expressions."""
    exprs, attributes = placed(use.operator, exprs, attributes)
    state = lowering.state
    type_ = type_at(state, use)
    hint = state.take_hint()
    assert isinstance(use.type, Fn)
    each = zip(exprs, type_.params, use.type.params, strict=True)
    rows = _rows(use.operator, type_)
    operands = tuple([_operand(lowering, *parts, scope, rows) for parts in each])
    for attribute in attributes:
        measure(lowering, attribute.value, scope)
    state.hint = hint
    given = {name: _attribute(state, use, value) for name, value in use.attributes.items()}
    return apply_operator(state, use.operator, operands, given, type_, use.type, span)


def _rows(operator: Operator, type_: Fn) -> list[Shape]:
    """The shapes of rows that a function is called for, those of its last arguments; none if they
    do not vary.
    """
    first = first_by_row(operator, len(type_.params))
    tensors = [param for param in type_.params[first:] if isinstance(param, Tensor)]
    return [t.shape[1:] for t in tensors] if any(map(ragged.varies, tensors)) else []


def type_at(state: State, use: Use) -> Fn:
    """The type that an operator has where it is used."""
    type_ = state.elaboration.state.resolve(use.type)
    assert isinstance(type_, Fn)
    return type_


def _operand(
    lowering: Walk, expr: ast.Expr, param: Type, written: Type, scope: Scope, rows: list[Shape]
) -> Operand:
    """An argument of an operator. Sizes are not values, so only the tensors in them are
    computed.
    """
    if isinstance(param, DimValue):
        measure(lowering, expr, scope)
        size = lowering.state.as_size(written)
        assert isinstance(size, DimValue)
        return SizeOf(size.dim)
    if isinstance(param, ShapeValue) and isinstance(expr, ast.ListExpr):
        measure(lowering, expr, scope)
        sizes = lowering.state.as_size(written)
        assert isinstance(sizes, ShapeValue)
        return ShapeOf(sizes.shape)
    found = lowering.expr(expr, scope)
    if isinstance(param, Fn):
        recorded = lowering.state.elaboration.record.types
        own = lowering.state.type_of(expr) if id(expr) in recorded else param
        return lowering.function(found, param, written, own, expr.span, rows)
    return coerce(lowering.state, found, param)


def _attribute(state: State, use: Use, value: object) -> object:
    """An attribute with its sizes under the bindings of this elaboration."""
    if isinstance(value, tuple):
        return tuple(_attribute(state, use, item) for item in value)
    if isinstance(value, str) and value in use.given:
        dim = state.elaboration.state.store.dim(use.given[value])
        return dim if isinstance(dim, int) else SizeOf(dim)
    return value


def _count(state: State, operand: Operand, dim: Dim) -> None:
    """The number of elements of rows that vary is known once they are computed."""
    if isinstance(operand, Value) and ragged.varies(operand.type) and isinstance(dim, DimVar):
        state.emit(Measure(operand, (dim,), counted=True))


def apply_operator(
    state: State,
    operator: Operator,
    operands: tuple[Operand, ...],
    attributes: dict[str, object],
    type_: Fn,
    written: Type,
    span: Span,
    makes: bool = True,
) -> Operand:
    """Apply an operator. `written` is its type before substitution; run-time sizes in it are the
    operator's own if it `makes` them.
    """
    assert isinstance(written, Fn)
    if isinstance(type_.result, DimValue):
        if operator.traits.counts_elements and attributes.get("axis") is None:
            _count(state, operands[0], type_.result.dim)
        size = state.as_size(written.result)
        assert isinstance(size, DimValue)
        return SizeOf(size.dim)
    if isinstance(type_.result, ShapeValue):
        sizes = state.as_size(written.result)
        assert isinstance(sizes, ShapeValue)
        return ShapeOf(sizes.shape)
    if operator.traits.passes_through:
        return operands[0]
    given = {**operator.defaults, **attributes}
    result = state.value(type_.result, written.result, makes)
    state.emit(Apply(result, operator, operands, given, span, type_, written))
    return result
