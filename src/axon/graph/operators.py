"""Operators: their operands, their attributes, and the nodes that they become."""

from __future__ import annotations

from axon.graph import ragged, structures
from axon.graph.convert import coerce, coerce_all
from axon.graph.graph import Apply, Measure, Operand, ShapeOf, SizeOf, Value
from axon.graph.measure import measure
from axon.graph.scope import Known, Scope
from axon.graph.state import State
from axon.graph.walk import Walk
from axon.inference.recording.record import Use
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
    written = use.type
    first = first_by_row(use.operator, len(type_.params))
    if structures.is_structured(type_, first):
        operands, type_, written = _structured(lowering, use, exprs, first, scope)
    else:
        each = zip(exprs, type_.params, written.params, strict=True)
        rows = _rows(use.operator, type_)
        operands = tuple([_operand(lowering, *parts, scope, rows) for parts in each])
    for attribute in attributes:
        measure(lowering, attribute.value, scope)
    state.hint = hint
    given = {name: _attribute(state, use, value) for name, value in use.attributes.items()}
    return apply_operator(state, use.operator, operands, given, type_, written, span)


def _structured(
    lowering: Walk, use: Use, exprs: tuple[ast.Expr, ...], first: int, scope: Scope
) -> tuple[tuple[Operand, ...], Fn, Fn]:
    """Operands of which those from the `first` on are structures, taken apart; and the type of the
    operator for them, as `Apply` has it.
    """
    state = lowering.state
    type_, written = type_at(state, use), use.type
    assert isinstance(written, Fn)
    prune = state.elaboration.state.prune
    flat, flat_written = (structures.flat_type(t, first, prune) for t in (type_, written))
    rows = _rows(use.operator, flat)
    operands: list[Operand] = []
    each = zip(exprs, type_.params, written.params, strict=True)
    for i, (expr, param, own) in enumerate(each):
        if i == first - 1:
            function, made = flat.params[i], flat_written.params[i]
            assert isinstance(function, Fn) and isinstance(param, Fn)
            found = lowering.expr(expr, scope)
            groups, count = param.params, len(exprs) - first
            operands.append(
                lowering.function(found, function, made, param, expr.span, rows, groups, count)
            )
        else:
            operand = _operand(lowering, expr, param, own, scope, rows)
            operands.extend(structures.leaves(state, operand) if i >= first else (operand,))
    return tuple(operands), flat, flat_written


def subscript(lowering: Walk, expr: ast.Subscript, scope: Scope) -> Known:
    """The operators that a subscript stands for, one after the other."""
    state = lowering.state
    hint = state.take_hint()
    found = lowering.expr(expr.value, scope)
    for item in expr.parts[1:]:
        measure(lowering, item, scope)
    if expr.span not in state.elaboration.record.subscripts:
        sizes = state.size_of(expr)
        if isinstance(sizes, DimValue):
            return SizeOf(sizes.dim)
        assert isinstance(sizes, ShapeValue)
        return ShapeOf(sizes.shape)
    for part in state.elaboration.record.subscripts[expr.span]:
        use = state.elaboration.record.uses[part.span]
        type_ = type_at(state, use)
        given = (found, *(lowering.expr(tensor, scope) for tensor in part.tensors))
        state.hint = hint
        attributes = {name: _attribute(state, use, value) for name, value in use.attributes.items()}
        operands = coerce_all(state, given, type_.params)
        found = apply_operator(
            state, use.operator, operands, attributes, type_, use.type, part.span
        )
    return found


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
    return coerce(lowering.state, found, param, expr.span)


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
