"""Conversions of a value to another type: sizes to tensors, tensors to sizes, and one value under
the types that it has on either side of a call.
"""

from __future__ import annotations

from collections.abc import Sequence

from axon.diagnostics import error
from axon.graph import ragged
from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Check,
    Measure,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.scope import Closure, Declared, Known, NotAValue, Stop, Structure, bundle
from axon.graph.state import Foreign, State
from axon.inference.generalise.existentials import conditions
from axon.inference.recording.elaborate import Elaboration
from axon.ops.families.pointwise import divide
from axon.solver.constraints import NOWHERE, Guard, Origin
from axon.source import Span
from axon.types.dim import Dim
from axon.types.elements import BIT, INT
from axon.types.type import (
    DimEq,
    DimValue,
    Elem,
    Fn,
    Shape,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar, given_at, is_ragged


def coerce(state: State, value: Known, type_: Type, span: Span | None = None) -> Operand:
    """A value where one of this type is expected: sizes become tensors, and tensors sizes."""
    match value, type_:
        case SizeOf(dim, "", number), Tensor(elem, _):
            if number is None or (_is_integer(elem) and isinstance(number[1], int)):
                return SizeOf(dim, str(elem))
            return _quotient(state, number, Tensor(elem, ()))
        case ShapeOf(shape, ""), Tensor(elem, _):
            return ShapeOf(shape, str(elem))
        case Value(), DimValue(dim) if not isinstance(value.type, DimValue):
            state.emit(Measure(value, (dim,), span=span))
            return SizeOf(dim)
        case Value(), ShapeValue(shape) if not isinstance(value.type, ShapeValue):
            state.emit(Measure(value, shape, span=span))
            return ShapeOf(shape)
        case Bundle(items, names), Tuple(types):
            return Bundle(coerce_all(state, items, types), names)
        case Closure() | Declared() | Structure() | OperatorFunction(), _:
            span = state.elaboration.fn.body.result.span
            raise Stop([error("AX403", "a function cannot be a result", span)])
        case _:
            return value


def _is_integer(elem: Elem) -> bool:
    return isinstance(elem, str) and bool(BIT[elem] & INT)


def _quotient(state: State, number: tuple[Dim, Dim], type_: Tensor) -> Operand:
    """A quotient of sizes where a number is expected: computed, not rounded down."""
    result = Value("", type_, state.depth)
    operands = tuple(SizeOf(part, str(type_.elem)) for part in number)
    use = Fn((type_, type_), type_)
    state.emit(Apply(result, divide, operands, {}, state.elaboration.fn.span, use, use))
    return result


def coerce_all(state: State, values: Sequence[Known], types: Sequence[Type]) -> tuple[Operand, ...]:
    return tuple(coerce(state, value, type_) for value, type_ in zip(values, types, strict=True))


def argument(state: State, value: Known, type_: Type, span: Span | None = None) -> Known:
    """The same where a function may be expected, or a structure with functions in it."""
    if isinstance(value, Structure) and isinstance(type_, Tuple):
        each = zip(value.items, type_.items, strict=True)
        return Structure(
            tuple(argument(state, item, part, span) for item, part in each), value.names
        )
    return value if isinstance(type_, Fn) else coerce(state, value, type_, span)


def no_function(
    found: Known, span: Span, text: str = "a function in a tuple cannot be run"
) -> Operand:
    """The value, which must not be a function: `text` is the reason."""
    if isinstance(found, NotAValue | OperatorFunction):
        raise Stop([error("AX403", text, span)])
    return found


def as_tensors(result: Operand, span: Span) -> Operand:
    """Sizes that are returned to the caller are tensors of integers."""
    match result:
        case SizeOf(dim, ""):
            return SizeOf(dim, "i64")
        case ShapeOf(shape, ""):
            if any(map(is_ragged, shape_variables(shape))):
                text = "the shape of a tensor whose rows vary cannot be a result"
                raise Stop([error("AX403", text, span)])
            return ShapeOf(shape, "i64")
        case Bundle(items, names):
            return Bundle(tuple(as_tensors(item, span) for item in items), names)
        case _:
            return result


def _compare(state: State, made: Type, seen: Type) -> None:
    """The run-time sizes that a value has must be those of the type it is used at: where one is
    known from another value already, the two are compared.
    """
    match made, seen:
        case Tensor(_, have), Tensor(_, want) if len(have) == len(want):
            for a, b in zip(have, want, strict=True):
                if isinstance(a, ShapeVar) or isinstance(b, ShapeVar):
                    if a is not b:
                        state.checks.append(Guard(ShapeEq((b,), (a,)), NOWHERE, state.depth))
                elif a != b and any(v.runtime for v in shape_variables((a, b))):
                    state.checks.append(Guard(DimEq(b, a), NOWHERE, state.depth))
        case Tuple(parts), Tuple(others):
            for part, other in zip(parts, others, strict=True):
                _compare(state, part, other)
        case _:
            pass


# --- at a call --------------------------------------------------------------------------------


def under_param_type(state: State, elaboration: Elaboration, index: int, arg: Known) -> Known:
    """An argument under the type that the function has for it: sizes are read off it by that."""
    type_ = elaboration.type.params[index]
    made = elaboration.as_made(elaboration.found.params[index])
    if not isinstance(arg, Value) or arg.type == type_ == made == (arg.made or type_):
        return arg
    name, foreign = elaboration.fn.params[index].name, Foreign(state.shared.made)
    inner = Value(name, type_, state.depth, made if made != type_ else None, foreign)
    state.emit(Alias(inner, arg))
    _compare(state, arg.made or arg.type, type_)
    return inner


def row_argument(state: State, param: Value, row: Shape, span: Span) -> tuple[Value, Value]:
    """The argument of a function that is called for rows of shape `row`, and the same value under
    the type that the function requires, once that is checked.
    """
    if not isinstance(param.type, Tensor) or len(row) != len(param.type.shape):
        return param, param
    made = param.made.shape if isinstance(param.made, Tensor) else param.type.shape
    word: list[Dim | ShapeVar] = []
    guards: list[Guard] = []
    origin = Origin("argument", span)
    for item, own, whole in zip(param.type.shape, made, row, strict=True):
        is_row = isinstance(own, DimVar) and own.row
        if is_row or item == whole or not any(map(is_ragged, shape_variables((whole,)))):
            word.append(item)
            continue
        size = DimVar("", scope=given_at(state.depth), runtime=True, row=True)
        word.append(size)
        guards.append(Guard(DimEq(size, item), origin, state.depth))  # type: ignore[arg-type]
    if not guards:
        return param, param
    given = Value(param.name, Tensor(param.type.elem, tuple(word)), param.depth)
    state.emit(Alias(param, given))
    for guard in conditions(guards):
        state.emit(Check(guard.relation, guard.origin, guard.depth))
    return given, param


def under_callers_type(state: State, result: Known, type_: Type) -> Known:
    """The result of a function under the type that its caller knows."""
    match result, type_:
        case Closure() | Declared() | OperatorFunction(), _:
            return result
        case Value(), _:
            if result.type == type_ and (result.depth == state.depth or not ragged.runtime(type_)):
                return result
            outer = state.value(type_)
            state.emit(Alias(outer, result))
            _compare(state, result.made or result.type, type_)
            return outer
        case ((Bundle(items, names) | Structure(items, names)), Tuple(types)):
            parts = [under_callers_type(state, i, t) for i, t in zip(items, types, strict=True)]
            return bundle(parts, names)
        case SizeOf(dim, ""), DimValue(DimVar(runtime=True) as size) if dim != size:
            state.emit(Measure(SizeOf(dim, "i64"), (size,)))
            return SizeOf(size)
        case _:
            return coerce(state, result, type_)
