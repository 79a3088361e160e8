"""Operators with functions, over the rows of padded tensors.

The function is called for each row of the padded tensor, so for rows that are not true as well. It
receives the place of its row beside it: what all rows share has no derivative where the row is not
a true one, and a state stays as it is there.
"""

from __future__ import annotations

from dataclasses import replace

from axon.graph.graph import (
    Apply,
    Bundle,
    Call,
    Function,
    Graph,
    Item,
    Node,
    Operand,
    OperatorFunction,
    Value,
)
from axon.graph.padding.build import I64, Builder, typed
from axon.graph.padding.lanes import is_float, shape_of, type_of
from axon.graph.padding.sizes import NotPadded
from axon.graph.sizes import captured
from axon.ops.operator import Problem
from axon.ops.padding import KEPT_IF, PLACE_NUMBERS, UPDATED_IF
from axon.ops.scheme import scheme_of
from axon.ops.traits import Calls
from axon.types.type import Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar


def with_functions(builder: Builder, node: Apply) -> Value:
    """An operator that calls functions on rows, on a state, or one of two."""
    calls = node.operator.traits.calls
    result = replace(node.result)
    if calls in (Calls.WHILE, Calls.BRANCH):
        operands = tuple(map(builder.operand, node.operands))
        builder.nodes.append(replace(node, result=result, operands=operands))
        return builder.keep(result, ())
    first = 1 if calls is Calls.EACH_ROW else 2
    rows = list(map(builder.operand, node.operands[first:]))
    function = node.operands[first - 1]
    before = list(map(builder.operand, node.operands[: first - 1]))
    shape = shape_of(rows[0])
    padded = builder.sizes.padded_in(shape[0]) if shape else frozenset[DimVar]()
    if isinstance(function, OperatorFunction):
        function = _written_out(builder, node, function) or function
    if not isinstance(function, Function):
        _check_rows(builder, node, rows)
        if padded and first == 2:
            raise NotPadded(padded, "its function is an operator with a state")
        made: Operand = function
    elif not padded:
        made = builder.function(function)
    else:
        if _has_loop(function.nodes, set()):
            raise NotPadded(padded, "a loop in its function might not end for what is padding")
        assert shape is not None and isinstance(rows[0], Value)
        count = builder.number(shape[0])
        made = _for_true_rows(builder, function, count, calls)
        places = Tensor("i64", (shape[0],))
        rows.append(builder.apply(PLACE_NUMBERS, [rows[0]], places))
    operands = (*before, made, *rows)
    type_ = node.type if len(operands) == len(node.operands) else typed(operands, result.type)
    written = node.written if type_ is node.type else type_
    builder.nodes.append(
        replace(node, result=result, operands=operands, type=type_, written=written)
    )
    return builder.keep(result, ())


def _written_out(builder: Builder, node: Apply, function: OperatorFunction) -> Function | None:
    """An operator as a function that applies it to rows, and to a state before them; None where
    the types do not say what it is applied to.
    """
    calls, depth, operator = node.operator.traits.calls, builder.depth + 1, function.operator
    types = [type_of(operand) for operand in node.operands]
    first = 1 if calls is Calls.EACH_ROW else 2
    given = [_row(type_) for type_ in types[first:]]
    result = _row(node.result.type) if first == 1 else types[0]
    scheme = scheme_of(operator, len(given) + first - 1, {})
    if calls is Calls.STATE_AND_OUTPUT or isinstance(scheme, Problem):
        return None
    params = [*([types[0]] if first == 2 else []), *given]
    if not isinstance(result, Tensor) or not all(isinstance(type_, Tensor) for type_ in params):
        return None
    values = tuple(Value("", type_, depth) for type_ in params if type_ is not None)
    made, type_ = Value("", result, depth), typed(values, result)
    each = Apply(made, operator, values, {**operator.defaults}, node.span, type_, scheme.type)
    return Function(values, (each,), made, depth)


def _row(type_: Type) -> Tensor | None:
    if not isinstance(type_, Tensor) or not type_.shape or isinstance(type_.shape[0], ShapeVar):
        return None
    return Tensor(type_.elem, type_.shape[1:])


def _check_rows(builder: Builder, node: Apply, rows: list[Operand]) -> None:
    """An operator as a function: its rows must not be padded."""
    for row in [*rows, node.result]:
        shape = shape_of(row)
        behind = [] if shape is None else [builder.sizes.padded_in(item) for item in shape[1:]]
        found = builder.sizes.among(type_of(row)) if shape is None else None
        inner = frozenset[DimVar]().union(*behind) if found is None else found
        if inner:
            raise NotPadded(inner, "its function is an operator, on rows that are padded")


def _for_true_rows(
    builder: Builder, function: Function, count: Operand, calls: Calls | None
) -> Function:
    inside = builder.inner(function.depth)
    place = Value("place", I64, function.depth)
    state = function.params[0] if calls is not Calls.EACH_ROW else None

    def kept(part: Value, type_: Tensor) -> Value:
        if not is_float(type_):
            return part
        return inside.apply(KEPT_IF, [part, place, count], type_)

    if builder.mode.derived:
        for value in [*captured(function), *([state] if state is not None else [])]:
            known = inside.values.get(value, value)
            inside.values[value] = inside.leaves(known, kept)
    result = inside.body(function.nodes, function.result)
    if state is not None and calls is Calls.STATE:
        result = _updated(inside, result, state, state.type, place, count)
    elif state is not None:
        last, *outputs = _items(inside, result)
        last = _updated(inside, last, state, state.type, place, count)
        result = Bundle((last, *outputs))
    params = (*function.params, place)
    return Function(params, tuple(inside.nodes), result, function.depth)


def _items(builder: Builder, whole: Operand) -> list[Operand]:
    if isinstance(whole, Bundle):
        return list(whole.items)
    type_ = type_of(whole)
    assert isinstance(whole, Value) and isinstance(type_, Tuple)
    found: list[Operand] = []
    for index, item in enumerate(type_.items):
        part = Value(whole.name, item, builder.depth)
        builder.nodes.append(Item(part, whole, index))
        found.append(part)
    return found


def _updated(
    builder: Builder, new: Operand, old: Operand, type_: Type, place: Value, count: Operand
) -> Operand:
    """The new state if this row is a true one, else the old one."""
    if isinstance(type_, Tensor):
        return builder.apply(UPDATED_IF, [new, old, place, count], type_)
    if not isinstance(type_, Tuple):
        return new
    pairs = zip(_items(builder, new), _items(builder, old), type_.items, strict=True)
    parts = tuple([_updated(builder, a, b, item, place, count) for a, b, item in pairs])
    return Bundle(parts, getattr(type_, "names", None))


def _has_loop(nodes: tuple[Node, ...], seen: set[Graph]) -> bool:
    """Whether something goes on as long as a condition holds."""
    for node in nodes:
        if isinstance(node, Call) and node.graph not in seen:
            seen.add(node.graph)
            if _has_loop(node.graph.nodes, seen):
                return True
        elif isinstance(node, Apply):
            if node.operator.traits.calls is Calls.WHILE:
                return True
            inner = [o for o in node.operands if isinstance(o, Function)]
            if any(_has_loop(function.nodes, seen) for function in inner):
                return True
    return False
