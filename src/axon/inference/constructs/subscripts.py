"""Subscripts, `x[i, a:b:c, ..., None]`: operators that take parts of a tensor, one for each item.

Items before `...` count axes from the front, those behind it from the back, so that the rank need
not be known. An item that is a tensor comes last: its own rank decides how many axes take its
place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from axon.diagnostics import error
from axon.inference import operators
from axon.inference.constructs import size_values
from axon.inference.environment import Environment
from axon.inference.recording.record import Part
from axon.inference.report.indices import (
    are,
    at_places,
    range_of,
    report_structure,
    sizes_of,
    type_of,
)
from axon.inference.unify import floor, unify
from axon.inference.walk import Walk
from axon.ops import Operator
from axon.ops.axes import LIMIT
from axon.ops.families.indexing import FROM_END, ensure_rank, gather, index, slice_
from axon.ops.families.ordering import select
from axon.ops.families.rearrange import expand_dims
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.elements import BIT, INT
from axon.types.type import (
    UNKNOWN,
    AtLeast,
    DimValue,
    Elem,
    Shape,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
)
from axon.types.variables import ElemVar, ShapeVar, TypeVar

SIGN = "[…]"
"""What messages call a subscript."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A whole number or a size; one `from_end` is negative, whatever size it is."""

    dim: Dim
    from_end: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    """An operator to apply, its attributes, and the sizes among them by generated names."""

    operator: Operator
    span: Span
    attributes: dict[str, object]
    given: dict[str, Dim] = field(default_factory=dict)
    tensor: tuple[ast.Expr, Type] | None = None


@dataclass(frozen=True, slots=True)
class _Elements:
    """An item that is a tensor."""

    expr: ast.Expr
    type: Type


_Cut = tuple[_Place | None, _Place | None, _Place | None]
_Read = _Place | _Cut | _Elements | ast.Rest | ast.NewAxis


def infer_subscript(inference: Walk, expr: ast.Subscript, env: Environment) -> Type:
    state = inference.state
    type_ = state.prune(inference.infer(expr.value, env))
    if isinstance(type_, TypeVar):  # so that an index that uses it knows
        made = Tensor(ElemVar("", state.level), (state.fresh_shape(),))
        unify(state, made, type_, Origin("argument", expr.value.span, SIGN, 1))
        type_ = state.prune(type_)
    if isinstance(type_, Tuple):
        report_structure(inference, expr, type_)
        return UNKNOWN
    found = [_read(inference, item, env) for item in expr.items]
    read = [item for item in found if item is not None]
    if type_ is UNKNOWN or len(read) < len(found) or not _is_possible(inference, expr, read):
        return UNKNOWN
    if isinstance(type_, ShapeValue):
        if (sizes := _of_sizes(inference, expr, type_, read)) is not None:
            return sizes
        if (size := _of_open_shape(inference, expr, type_, read)) is not None:
            return size
    if isinstance(type_, Tensor) and not _fits(inference, expr, type_, read):
        return UNKNOWN
    steps = _steps(expr, read)
    parts: list[Part] = []
    for step in steps:
        args: list[Type] = [type_]
        exprs = [expr.value]
        if step.tensor is not None:
            exprs.append(step.tensor[0])
            args.append(step.tensor[1])
        parts.append(Part(step.span, tuple(exprs[1:])))
        type_ = operators.apply_chosen(
            inference,
            step.operator,
            step.attributes,
            step.given,
            args,
            tuple(exprs),
            step.span,
            SIGN,
        )
    if inference.record is not None:
        inference.record.subscripts[expr.span] = tuple(parts)
    return type_


# --- what the items are ----------------------------------------------------------------------


def _read(inference: Walk, item: ast.SubscriptItem, env: Environment) -> _Read | None:
    match item:
        case ast.Rest() | ast.NewAxis():
            return item
        case ast.Slice(start, stop, step, _):
            first, last = _bound(inference, start, env), _bound(inference, stop, env)
            return first, last, _bound(inference, step, env)
        case _:
            return _index(inference, item, env)


def _bound(inference: Walk, expr: ast.Expr | None, env: Environment) -> _Place | None:
    return (
        None
        if expr is None
        else _place(inference, expr, size_values.read_dim(inference, expr, env))
    )


def _index(inference: Walk, expr: ast.Expr, env: Environment) -> _Place | _Elements | None:
    """An index whose type nothing decides is a size."""
    state = inference.state
    type_ = state.prune(inference.infer(expr, env))
    if isinstance(type_, TypeVar):
        size = DimValue(state.fresh_dim())
        unify(state, size, type_, Origin("size", expr.span))
        type_ = size
    match type_:
        case DimValue():
            floor(state, type_, Origin("size", expr.span))
            return _place(inference, expr, type_.dim)
        case ShapeValue():
            return _Elements(expr, type_)
        case Tensor(elem, shape) if _allowed(known := state.elem(elem)) & (INT | BIT["bool"]):
            return _Elements(expr, Tensor(known, shape))
        case _:
            if type_ is not UNKNOWN:
                text = "this cannot be an index"
                help = "an index is a size, a tensor of whole numbers or one of truth values"
                inference.error("AX221", text, expr.span, "not a whole number", help)
            return None


def _place(inference: Walk, expr: ast.Expr, dim: Dim) -> _Place:
    """Where a size points to. `-k` counts from the end, and must not be zero; any other size that
    might be negative must not be.
    """
    dim = inference.state.store.dim(dim)
    if isinstance(dim, int) or dims.is_nonnegative(dim):
        return _Place(dim)
    if dims.is_nonnegative(dims.scale(-1, dim)) or _begins_with_minus(expr):
        return _Place(dim, from_end=True)
    inference.state.post(AtLeast(dim, silent=True), Origin("size", expr.span))
    return _Place(dim)


def _begins_with_minus(expr: ast.Expr) -> bool:
    while isinstance(expr, ast.Infix):
        expr = expr.left
    return isinstance(expr, ast.Negate)


def _is_possible(inference: Walk, expr: ast.Subscript, read: list[_Read]) -> bool:
    """Report what no tensor can be indexed with."""
    if len(read) > LIMIT:
        text = f"a subscript has at most {LIMIT} items, and this one has {len(read)}"
        inference.error("AX221", text, expr.span, "too many")
        return False
    tensors = [item for item in read if isinstance(item, _Elements)]
    if len(tensors) > 1:
        text = "only one item of a subscript can be a tensor"
        help = "index twice: `x[i][:, j]`, or `x[i][j]` where `i` is a scalar"
        found = error("AX221", text, tensors[1].expr.span, "the second one", help)
        inference.state.diagnostics.append(replace(found, fixes=at_places(expr, len(tensors))))
        return False
    if tensors and any(isinstance(item, _Place) for item in read):
        text = "a tensor and a whole number cannot be combined in one subscript"
        help = "index twice: `x[i][:, 0]` makes the order of the axes explicit"
        inference.error("AX221", text, tensors[0].expr.span, "a tensor", help)
        return False
    return True


def _fits(inference: Walk, expr: ast.Subscript, type_: Tensor, read: list[_Read]) -> bool:
    """Report an index that a tensor of known rank does not have."""
    whole = inference.state.store.shape(type_.shape)
    word = [item for item in whole if not isinstance(item, ShapeVar)]
    if len(word) < len(whole) or any(map(_is_a_mask, read)):
        return True
    mentioned = _mentioned(read)
    if mentioned > len(word):
        count = "1 dimension" if len(word) == 1 else f"{len(word)} dimensions"
        wanted = "1 dimension" if mentioned == 1 else f"{mentioned} dimensions"
        text = f"a subscript for {wanted}, and there {are(len(word))} {count}"
        inference.error("AX221", text, expr.span, f"`{type_of(inference, type_)}`")
        return False
    axis = 0
    for item, known in zip(expr.items, read, strict=True):
        match known:
            case ast.Rest():
                axis += len(word) - mentioned
            case ast.NewAxis():
                pass
            case _Place(int(at)) if _is_outside(at, word[axis]):
                size = word[axis]
                shown = type_of(inference, DimValue(size)).removeprefix("dim ")
                text = f"there is no index {at}: this dimension has size {shown}"
                help = range_of(size) if isinstance(size, int) else None
                inference.error("AX221", text, item.span, "out of range", help)
                return False
            case _:
                axis += 1
    return True


def _is_outside(at: int, size: Dim) -> bool:
    """Whether an index is out of range whatever the size is."""
    return dims.is_nonnegative(dims.sub(at if at >= 0 else -at - 1, size))


def _mentioned(read: list[_Read]) -> int:
    return sum(not isinstance(item, ast.Rest | ast.NewAxis) for item in read)


def _of_sizes(
    inference: Walk, expr: ast.Subscript, type_: ShapeValue, read: list[_Read]
) -> Type | None:
    """A size of a shape, or some of them, where they are known: `shape(x)[0]`."""
    word = inference.state.store.word(type_.shape)
    sizes = [item for item in word if not isinstance(item, ShapeVar)]
    if len(sizes) < len(word):
        return None
    match read:
        case [_Place(int(at))]:
            if -len(sizes) <= at < len(sizes):
                return DimValue(sizes[at])
            span = expr.items[0].span
            text = f"there is no index {at}: this shape has {sizes_of(len(sizes))}"
            inference.error("AX221", text, span, f"`{type_of(inference, type_)}`")
            return UNKNOWN
        case [(start, stop, step)]:
            numbers = [place.dim for place in (start, stop, step) if place is not None]
            if (step is not None and step.dim == 0) or not all(
                isinstance(number, int) for number in numbers
            ):
                return None
            bounds: list[Any] = [place and place.dim for place in (start, stop, step)]
            return ShapeValue(tuple(sizes[slice(*bounds)]))
        case _:
            return None


def _of_open_shape(
    inference: Walk, expr: ast.Subscript, type_: ShapeValue, read: list[_Read]
) -> Type | None:
    """A size of a shape whose rank is open: `s = [a,b,c]@r`, as there must be such a size."""
    state = inference.state
    match read:
        case [_Place(int(at))] if -LIMIT <= at < LIMIT:
            if not any(isinstance(item, ShapeVar) for item in state.store.word(type_.shape)):
                return None
            sizes = tuple(state.fresh_dim() for _ in range(at + 1 if at >= 0 else -at))
            rest = state.fresh_shape()
            word: Shape = (*sizes, rest) if at >= 0 else (rest, *sizes)
            state.post(ShapeEq(type_.shape, word), Origin("argument", expr.value.span, SIGN, 1))
            return DimValue(sizes[at])
        case _:
            return None


# --- the operators ---------------------------------------------------------------------------


def _steps(expr: ast.Subscript, read: list[_Read]) -> list[_Step]:
    """The operators in their order. That the axes from the front and those from the back are not
    the same ones is asked of the result, where no operator asks for as many.
    """
    items = list(zip(expr.items, read, strict=True))
    rest = next((i for i, item in enumerate(read) if isinstance(item, ast.Rest)), len(read))
    front, back = _Plan(expr), _Plan(expr, step=-1)
    for item, known in items[:rest]:
        front.add(item, known)
    for item, known in reversed(items[rest + 1 :]):
        back.add(item, known)
    steps, last = front.steps + back.steps, front.last + back.last
    kept = front.kept + back.kept
    if max(front.asked, back.asked) < kept or not steps + last:
        if any(map(_is_a_mask, read)):
            steps.append(_Step(ensure_rank, expr.span, {"least": kept}))
        else:
            steps.insert(0, _Step(ensure_rank, expr.span, {"least": _mentioned(read)}))
    return steps + last


class _Plan:
    """The operators for items from one end. `kept` is how many axes of the result stand for them,
    `asked` how many axes the operators ask for themselves, `last` the operator for a tensor that
    gathers: it may have any rank, so that nothing is counted beyond it.
    """

    def __init__(self, expr: ast.Subscript, step: int = 1) -> None:
        self.expr = expr
        self.step = step
        self.steps: list[_Step] = []
        self.last: list[_Step] = []
        self.kept = 0
        self.asked = 0

    def add(self, item: ast.SubscriptItem, known: _Read) -> None:
        begin = self.expr.span
        span = Span(begin.source, begin.start, item.span.end)
        axis = self.kept if self.step > 0 else -1 - self.kept
        match known:
            case _Place():
                given: dict[str, Dim] = {}
                attributes = {"i": _attribute("i", known, given), "axis": axis}
                self.steps.append(_Step(index, span, attributes, given))
                self.asked = self.kept
                return
            case _Elements(expr, type_) if _is_a_mask(known):
                self.steps.append(_Step(select, span, {"axis": axis}, tensor=(expr, type_)))
            case _Elements(expr, type_):
                self.last.append(_Step(gather, span, {"axis": axis}, tensor=(expr, type_)))
            case ast.NewAxis():
                self.steps.append(_Step(expand_dims, span, {"axis": (axis,)}))
            case ast.Rest() | (None, None, None):
                self.kept += 1
                return
            case start, stop, step:
                given = {}
                places = {"start": start, "stop": stop, "step": step}
                written = {
                    name: _attribute(name, place, given)
                    for name, place in places.items()
                    if place is not None
                }
                self.steps.append(_Step(slice_, span, {**written, "axis": axis}, given))
        self.kept += 1
        self.asked = self.kept


def _attribute(name: str, place: _Place, given: dict[str, Dim]) -> object:
    if isinstance(place.dim, int):
        return place.dim
    key = name + (FROM_END if place.from_end else "_given")
    given[key] = place.dim
    return key


def _is_a_mask(read: _Read) -> bool:
    type_ = read.type if isinstance(read, _Elements) else None
    if not isinstance(type_, Tensor):
        return False
    return not _allowed(type_.elem) & INT


def _allowed(elem: Elem) -> int:
    return BIT[elem] if isinstance(elem, str) else elem.allowed
