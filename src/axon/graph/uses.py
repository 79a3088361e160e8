"""What the tensors among the arguments of a graph are used as, which their signatures tell.

    (t s@[m,k], t s@[k,n]) -> t s@[m,n]    `k` is in both operands and not in the result: they are
                                           factors, and are summed over `k`
    (t [n]@s, i r) -> t r@s                `n` is in one operand only, the other has integers: that
                                           is a table, and rows are looked up in it
    (t s@[n], t [n]) -> t s@[n]            a scale, if the operator states so

A tensor is followed through functions, into the rows that `map` and `fold` pass, and through
operators that only move it or change its elements one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Function,
    Graph,
    Item,
    Node,
    Operand,
    Value,
)
from axon.ops.traits import Calls
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.elements import BIT, INT
from axon.types.type import Fn, Record, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar


class Kind(Enum):
    """The more a use tells, the earlier."""

    TABLE = 1
    FACTOR = 2
    SCALE = 3
    OTHER = 4


@dataclass(frozen=True, slots=True)
class Use:
    """`axes` are those that remain of the tensor where it is used: the first ones may be the rows
    of a `map`. A factor is summed over the axes `summed`. None is an axis that cannot be followed.
    """

    kind: Kind
    axes: tuple[int | None, ...]
    summed: tuple[int | None, ...] = ()


Path = tuple[str, ...]
"""An argument, and the fields or numbers that lead to a part of it."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """A tensor by its path, with the axis of it that each axis of a value is."""

    tensor: Path
    axes: tuple[int | None, ...]


Trace = Tracked | tuple["Trace", ...] | None
"""A value that is followed; a structure of them; None for any other."""


def uses(graph: Graph) -> dict[Path, list[Use]]:
    """The uses of the tensors among the arguments, by their paths."""
    following = _Following()
    args = tuple([_start(param.type, (param.name,)) for param in graph.params])
    following.graph(graph, args)
    return following.found


def _start(type_: Type, path: Path) -> Trace:
    if isinstance(type_, Tuple):
        names = type_.names if isinstance(type_, Record) else map(str, range(len(type_.items)))
        parts = zip(names, type_.items, strict=True)
        return tuple([_start(item, (*path, name)) for name, item in parts])
    if not isinstance(type_, Tensor) or any(isinstance(item, ShapeVar) for item in type_.shape):
        return None
    return Tracked(path, tuple(range(len(type_.shape))))


@dataclass(slots=True)
class _Following:
    found: dict[Path, list[Use]] = field(default_factory=dict)
    done: dict[tuple[int, tuple[Trace, ...]], Trace] = field(default_factory=dict)
    """The results of graphs for arguments that were followed into them already."""

    def graph(self, graph: Graph, args: tuple[Trace, ...]) -> Trace:
        key = id(graph), args
        if not any(map(_tracks, args)):
            return None
        if key not in self.done:
            known = dict(zip(graph.params, args, strict=True))
            self.nodes(graph.nodes, known)
            self.done[key] = _trace(graph.result, known)
        return self.done[key]

    def nodes(self, nodes: Sequence[Node], known: dict[Value, Trace]) -> None:
        for node in nodes:
            match node:
                case Item(result, whole, index):
                    trace = known.get(whole)
                    known[result] = trace[index] if isinstance(trace, tuple) else None
                case Alias(result, operand):
                    known[result] = _trace(operand, known)
                case Call(result, graph, operands):
                    args = tuple([_trace(operand, known) for operand in operands])
                    known[result] = self.graph(graph, args)
                case Apply():
                    known[node.result] = self.apply(node, known)
                case _:
                    pass

    def apply(self, node: Apply, known: dict[Value, Trace]) -> Trace:
        functions = [i for i, each in enumerate(node.operands) if isinstance(each, Function)]
        traces = [_trace(operand, known) for operand in node.operands]
        if functions:
            self._rows(node, functions, traces, known)
            return None
        passed: Trace = None
        for i, trace in enumerate(traces):
            if isinstance(trace, Tracked):
                passed = self._use(node, i, trace)
        return passed if sum(map(_is_tensor, node.operands)) == 1 else None

    def _rows(
        self,
        node: Apply,
        functions: list[int],
        traces: list[Trace],
        known: dict[Value, Trace],
    ) -> None:
        """Into functions: those that are called with rows see a tensor without its first axis."""
        by_rows = node.operator.traits.calls in (
            Calls.EACH_ROW,
            Calls.STATE,
            Calls.STATE_AND_OUTPUT,
        )
        rows = traces[functions[-1] + 1 :] if by_rows else []
        for i in functions:
            function = node.operands[i]
            assert isinstance(function, Function)
            inner = dict(known)
            for param, trace in zip(reversed(function.params), reversed(rows), strict=False):
                if isinstance(trace, Tracked):
                    inner[param] = Tracked(trace.tensor, trace.axes[1:])
            self.nodes(function.nodes, inner)

    def _use(self, node: Apply, at: int, trace: Tracked) -> Trace:
        """Enter a use. If the operator passes the tensor on, it is followed instead."""
        written, actual = node.written, node.type
        if not isinstance(written, Fn) or len(written.params) != len(node.operands):
            return None
        own = _axes_of(written.params[at], trace.axes)
        if own is None:
            return None
        use = _as_factor(written, actual, at, own, trace)
        scales = at + 1 in node.operator.traits.scales
        if use is None and scales and (len(trace.axes) < _rank(actual.result) or _is_small(trace)):
            use = Use(Kind.SCALE, trace.axes)
        others = sum(map(_is_tensor, node.operands)) > 1
        if use is None and not others:
            if node.operator.traits.pointwise:
                return trace
            return _passed(trace.tensor, written.result, actual.result, dict(own))
        entered = use or Use(Kind.OTHER, trace.axes)
        self.found.setdefault(trace.tensor, []).append(entered)
        return None


Own = list[tuple[Dim | ShapeVar, tuple[int | None, ...]]]
"""The items of an operand's shape as it is written, each with the axes that it stands for."""


def _axes_of(type_: Type, axes: tuple[int | None, ...]) -> Own | None:
    if not isinstance(type_, Tensor):
        return None
    opens = sum(isinstance(item, ShapeVar) for item in type_.shape)
    rest = len(axes) - (len(type_.shape) - opens)
    if opens > 1 or rest < 0 or (not opens and rest):
        return None
    found: Own = []
    at = 0
    for item in type_.shape:
        count = rest if isinstance(item, ShapeVar) else 1
        found.append((item, axes[at : at + count]))
        at += count
    return found


def _as_factor(written: Fn, actual: Fn, at: int, own: Own, trace: Tracked) -> Use | None:
    kept = _carried(written.result)
    items = [(item, axes) for item, axes in own if not isinstance(item, ShapeVar)]
    lost = [(item, axes) for item, axes in items if _dropped(item, kept)]
    others = [(i, param) for i, param in enumerate(written.params) if i != at]
    if not lost:  # from a size to the same size: the last of the two is summed over
        twice = _last_of_two(items)
        return None if twice is None or not others else Use(Kind.FACTOR, trace.axes, twice)
    elsewhere = {
        v for _, param in others if isinstance(param, Tensor) for v in _size_variables(param)
    }
    if any(not elsewhere.isdisjoint(dims.variables(item)) for item, _ in lost):
        return Use(Kind.FACTOR, trace.axes, tuple(axis for _, axes in lost for axis in axes))
    if any(_has_integers(actual.params[i]) for i, _ in others):
        return Use(Kind.TABLE, trace.axes)
    return None


def _dropped(item: Dim, kept: set[DimVar]) -> bool:
    variables = dims.variables(item)
    return bool(variables) and kept.isdisjoint(v for v in variables if isinstance(v, DimVar))


def _carried(type_: Type) -> set[DimVar]:
    """The sizes that a result has by themselves or times a number: `h - r + 1` is another one."""
    if isinstance(type_, Tuple):
        return {var for item in type_.items for var in _carried(item)}
    found: set[DimVar] = set()
    for item in type_.shape if isinstance(type_, Tensor) else ():
        if isinstance(item, ShapeVar | int):
            continue
        terms = dims.terms_of(item)
        if len(terms) == 1:
            found.update(v for v in dims.variables(item) if isinstance(v, DimVar))
    return found


def _last_of_two(
    items: list[tuple[Dim, tuple[int | None, ...]]],
) -> tuple[int | None, ...] | None:
    seen: set[object] = set()
    for item, axes in items:
        variables = set(dims.variables(item))
        if not seen.isdisjoint(variables):
            return axes
        seen |= variables
    return None


def _size_variables(type_: Tensor) -> set[object]:
    return {
        v for item in type_.shape if not isinstance(item, ShapeVar) for v in dims.variables(item)
    }


def _passed(
    tensor: Path,
    written: Type,
    actual: Type,
    own: dict[Dim | ShapeVar, tuple[int | None, ...]],
) -> Trace:
    """The result of an operator that has no other operand: the axes whose sizes are in both."""
    if isinstance(written, Tuple) and isinstance(actual, Tuple):
        parts = zip(written.items, actual.items, strict=True)
        return tuple([_passed(tensor, each, type_, own) for each, type_ in parts])
    if not isinstance(written, Tensor) or not isinstance(actual, Tensor):
        return None
    axes: list[int | None] = []
    for item in written.shape:
        axes += own.get(item, (None,)) if not isinstance(item, int) else (None,)
    rank = len(actual.shape)
    return Tracked(tensor, tuple(axes) if len(axes) == rank else (None,) * rank)


def _tracks(trace: Trace) -> bool:
    return any(map(_tracks, trace)) if isinstance(trace, tuple) else trace is not None


def _trace(operand: Operand, known: dict[Value, Trace]) -> Trace:
    if isinstance(operand, Bundle):
        return tuple([_trace(item, known) for item in operand.items])
    return known.get(operand) if isinstance(operand, Value) else None


def _is_tensor(operand: Operand) -> bool:
    """Whether an operand has axes; a number has none."""
    if not isinstance(operand, Value):
        return isinstance(operand, Bundle)
    return not isinstance(operand.type, Tensor) or bool(operand.type.shape)


def _is_small(trace: Tracked) -> bool:
    return len(trace.axes) <= 1


def _rank(type_: Type) -> int:
    return len(type_.shape) if isinstance(type_, Tensor) else 0


def _has_integers(type_: Type) -> bool:
    return isinstance(type_, Tensor) and isinstance(type_.elem, str) and bool(BIT[type_.elem] & INT)
