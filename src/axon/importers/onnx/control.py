"""If, Loop and Scan: graphs inside nodes become functions.

A branch is a function of nothing, and what a Loop or a Scan does each time a function of its
state. States whose shape the body keeps have it in the end; what it gives each time is stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from axon.importers.onnx.build import Node, Parts, Step, Unsupported, array
from axon.importers.onnx.inside import Inside, either, function, hidden, inside, ranked
from axon.importers.onnx.rules import rule
from axon.inference.unify import unify
from axon.solver.constraints import Origin
from axon.syntax import ast
from axon.types.type import Tensor, Tuple, Type
from axon.types.variables import DimVar

NO_LIMIT = 1 << 40
"""A Loop that may go on for so long is meant to go on while its condition holds."""


@rule("If")
def if_(node: Node) -> None:
    known = _truth(node.contents(0))
    if known is not None:
        _branch(node, inside(node, "then_branch" if known else "else_branch", []))
        return
    then, otherwise = (inside(node, which, []) for which in ("then_branch", "else_branch"))
    types = [either(node, a, b) for a, b in zip(then.types, otherwise.types, strict=False)]
    _define(node, types)
    same = list(zip(then.outputs, otherwise.outputs, strict=False))
    functions = (function(node, each, (), _all(each.outputs), same) for each in (then, otherwise))
    expr = node.call("cond", _scalar(node, 0), *functions)
    node.step(tuple(node.outputs[: len(types)]), expr)


def _branch(node: Node, found: Inside) -> None:
    """What an If does whose condition is known stands in its place."""
    importer = node.importer
    importer.steps += found.steps
    for name, made, type_ in zip(node.outputs, found.outputs, found.types, strict=False):
        if name:
            importer.define(name, type_, importer.contents.get(made))
            handed = ast.Name(importer.alias(made), node.span)
            node.step((name,), node.call("identity", handed))


def _truth(contents: Any) -> bool | None:
    """Whether a condition is known to hold, or not to hold."""
    if contents is None or contents.size != 1 or contents.flat[0] not in (True, False):
        return None
    return bool(contents.flat[0])


def _all(names: Sequence[str]) -> Parts:
    return names[0] if len(names) == 1 else tuple(names)


def _scalar(node: Node, index: int) -> ast.Expr:
    """An input of one element, as a scalar."""
    if node.rank(index) == 0:
        return node.given(index)
    return node.call("reshape", node.given(index), node.shape_literal(()))


# --- states ----------------------------------------------------------------------------------

Infer = Callable[[Sequence[Type]], Inside]
"""A body, inferred for states of these types."""


def _settled(node: Node, states: list[Type], infer: Infer, skip: int) -> tuple[Inside, list[Type]]:
    """The body, and the states with the sizes forgotten that it changes: found by trying, a few
    times. The body gives the states after `skip` others.
    """
    open_: set[DimVar] = set()
    for _ in range(4):
        found = infer(states)
        made = found.types[skip : skip + len(states)]
        if len(made) < len(states):
            raise Unsupported(f"{node.proto.op_type}: the body does not give all states")
        joined = [_kept(node, a, b, open_) for a, b in zip(states, made, strict=True)]
        if all(a is b for a, b in zip(states, joined, strict=True)):
            return found, states
        states = joined
    states = [node.unknown() for _ in states]
    return infer(states), states


def _kept(node: Node, state: Type, made: Type, open_: set[DimVar]) -> Type:
    """A state with the sizes that the body keeps; the others are open from now on. The state itself
    if there is nothing to forget.
    """
    before, after = ranked(node, state), ranked(node, made)
    if before is None:
        return state
    if after is None or len(before.shape) != len(after.shape):
        return node.unknown(before.elem)
    changed = [x != y and x not in open_ for x, y in zip(before.shape, after.shape, strict=True)]
    if not any(changed):
        return state
    sizes: list[Any] = []
    for size, forget in zip(before.shape, changed, strict=True):
        if forget:
            size = node.fresh_dim()
            open_.add(size)
        sizes.append(size)
    return Tensor(before.elem, tuple(sizes))


def _define(node: Node, types: Sequence[Type]) -> None:
    for name, type_ in zip(node.outputs, types, strict=False):
        if name:
            node.importer.define(name, type_)


def _types(node: Node, indices: Sequence[int]) -> list[Type]:
    return [node.importer.types.get(node.name(i)) or node.unknown() for i in indices]


def _stacked(node: Node, row: Type, times: Any, axis: int = 0) -> Type:
    known = ranked(node, row)
    if known is None:
        return node.unknown()
    at = axis % (len(known.shape) + 1)
    return Tensor(known.elem, (*known.shape[:at], times, *known.shape[at:]))


def _same(
    node: Node, indices: Sequence[int], params: Sequence[str], made: Sequence[str]
) -> list[tuple[str, str]]:
    """What the states begin with has the types that they keep."""
    begin = [(node.name(i), param) for i, param in zip(indices, params, strict=True)]
    return [*begin, *zip(params, made, strict=True)]


def _tuple(exprs: Sequence[ast.Expr], node: Node) -> ast.Expr:
    return exprs[0] if len(exprs) == 1 else ast.TupleExpr(tuple(exprs), node.span)


# --- what comes out --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turns:
    """A body that is done again and again: the states that it takes and those it gives, and what
    is the output of each turn.
    """

    node: Node
    body: Inside
    params: Sequence[str]
    states: Sequence[str]
    rows: Sequence[str]
    same: Sequence[tuple[str, str]]
    more: Sequence[Step] = ()

    def over(
        self, begin: Sequence[ast.Expr], items: Sequence[str], given: Sequence[ast.Expr]
    ) -> ast.Expr:
        """Once for each row of some tensors, which the body calls `items`."""
        node, rows = self.node, self.rows
        if not self.params and len(rows) == 1:
            return node.call("map", self.function(tuple(items), rows[0]), *given)
        state, taken = _tuple(begin, node), (_all(self.params), *items)
        if not rows:
            return node.call("fold", state, self.function(taken, _all(self.states)), *given)
        made = self.function(taken, (_all(self.states), _all(rows)))
        return node.call("loop", state, made, *given, outputs=len(rows))

    def holding(self, begin: Sequence[ast.Expr], test: str, how: Sequence[Step]) -> ast.Expr:
        """While a condition holds of the state."""
        node, rows, taken = self.node, self.rows, (_all(self.params),)
        condition = function(node, self.body, taken, test, self.same, how, "while")
        made = _all(self.states) if not rows else (_all(self.states), _all(rows))
        step = self.function(taken, made)
        return node.call("iterate", _tuple(begin, node), condition, step, outputs=len(rows))

    def function(self, params: tuple[Parts, ...], result: Parts) -> ast.Expr:
        return function(self.node, self.body, params, result, self.same, self.more)


def _gives(
    node: Node,
    expr: ast.Expr,
    states: Sequence[str],
    rows: Sequence[str],
    types: Sequence[Type],
    later: ast.Expr | None = None,
) -> None:
    """An expression makes a state and rows, each one tensor or a tuple of some; `types` are theirs,
    in that order. A state that has no name is nobody's.
    """
    if not rows or (not states and len(rows) == 1):
        node.step((*states, *rows), expr, later)
        return
    parts = _whole(node, "state", states, types), _whole(node, "rows", rows, types[len(states) :])
    node.step(parts, expr, later)
    for part, names in zip(parts, (states, rows), strict=True):
        if len(names) > 1:
            node.step(tuple(names), ast.Name(node.importer.alias(part), node.span))


def _whole(node: Node, own: str, names: Sequence[str], types: Sequence[Type]) -> str:
    """One name for all of them."""
    if len(names) < 2:
        return "".join(names)
    name = f"{next(filter(None, node.outputs), '')}/{own}"
    return hidden(node, name, own, Tuple(tuple(types[: len(names)])))


def _padded(names: Sequence[str], count: int) -> list[str]:
    """The names of so many outputs; the last ones may not be there."""
    return [*names, *[""] * (count - len(names))][:count]


# --- Loop ------------------------------------------------------------------------------------


@rule("Loop")
def loop(node: Node) -> None:
    indices = range(2, node.count)
    first = [Tensor("i64", ()), Tensor("bool", ())]

    def infer(states: Sequence[Type]) -> Inside:
        return inside(node, "body", [*first, *states], {1: array(True)})

    found, states = _settled(node, _types(node, indices), infer, 1)
    if len(found.params) != 2 + len(states):
        raise Unsupported("Loop whose body takes another number of states")
    endless = _truth(node.importer.contents.get(found.outputs[0])) is True
    times = _times(node) if endless else None
    size = node.fresh_dim() if times is None else times
    rows = found.types[1 + len(states) :]
    types = [*states, *(_stacked(node, row, size) for row in rows)]
    _define(node, types)
    if not endless:
        _while(node, found, types)
    elif node.has(0):
        _for(node, found, types, times)


def _times(node: Node) -> Any:
    """How often a Loop goes round that nothing stops, where that is known."""
    known = node.whole(0) if node.has(0) and _starts(node) else None
    if known is None or len(known) != 1 or not node.importer.is_size(known[0]):
        return None
    return known[0]


def _starts(node: Node) -> bool:
    """Whether the condition is known to hold in the beginning."""
    return not node.has(1) or _truth(node.contents(1)) is True


def _for(node: Node, found: Inside, types: Sequence[Type], times: Any) -> None:
    """So many times: a loop over the numbers of the turns."""
    number, condition, *params = found.params
    count = len(params)
    made, rows = found.outputs[1 : 1 + count], found.outputs[1 + count :]
    indices = range(2, node.count)
    true = Step((condition,), node.literal(True), node.proto)
    same = _same(node, indices, params, made)
    turns = Turns(node, found, params, made, rows, same, [true])
    begin = [node.given(i) for i in indices]
    zero, one, limit = node.literal(0), node.literal(1), _scalar(node, 0)
    if not _starts(node):
        limit = node.call("where", _scalar(node, 1), limit, zero)
    expr = later = turns.over(begin, [number], [node.call("arange", zero, limit, one)])
    if times is not None:
        expr = turns.over(begin, [number], [node.call("range", node.size(times))])
    names = _padded(node.outputs, len(types))
    _gives(node, expr, names[:count], names[count:], types, later)


def _while(node: Node, found: Inside, types: Sequence[Type]) -> None:
    """As long as a condition holds, which is part of the state, as the number of the turn is."""
    number, condition, *params = found.params
    count, keep = len(params), found.outputs[0]
    made, rows = found.outputs[1 : 1 + count], found.outputs[1 + count :]
    indices = range(2, node.count)
    scalars: list[Type] = [Tensor("i64", ()), Tensor("bool", ())]
    after = hidden(node, f"{found.prefix}/after", "after", scalars[0])
    test = hidden(node, f"{found.prefix}/test", "test", scalars[1])
    alias = {n: ast.Name(node.importer.alias(n), node.span) for n in (number, condition)}
    counting = Step((after,), node.call("+", alias[number], node.literal(1)), node.proto)
    same = [*_same(node, indices, params, made), (condition, keep)]
    turns = Turns(
        node, found, [number, condition, *params], [after, keep, *made], rows, same, [counting]
    )
    holds: ast.Expr = node.call("identity", alias[condition])
    if _limited(node):
        within = node.call("<", alias[number], _scalar(node, 0))
        holds = node.call("logical_and", alias[condition], within)
    start = _scalar(node, 1) if node.has(1) else node.literal(True)
    begin = [node.literal(0), start, *(node.given(i) for i in indices)]
    expr = turns.holding(begin, test, [Step((test,), holds, node.proto)])
    names = _padded(node.outputs, len(types))
    _gives(node, expr, ["", "", *names[:count]], names[count:], [*scalars, *types])


def _limited(node: Node) -> bool:
    """Whether the number of turns has a limit that anyone would reach."""
    known = node.ints(0) if node.has(0) else None
    return node.has(0) and not (known is not None and len(known) == 1 and known[0] >= NO_LIMIT)


# --- Scan ------------------------------------------------------------------------------------


@rule("Scan")
def scan(node: Node) -> None:
    if 0 < node.importer.opset < 9:
        raise Unsupported("Scan over a batch, as it was before opset 9")
    inputs = node.attribute("num_scan_inputs", 0)
    count = node.count - inputs
    if inputs < 1 or count < 0:
        raise Unsupported(f"Scan over {inputs} of {node.count} inputs")
    axes = _padded_with(node.attribute("scan_input_axes"), inputs)
    times: Any = node.fresh_dim()
    rows = [_row(node, count + i, axis, times) for i, axis in enumerate(axes)]

    def infer(states: Sequence[Type]) -> Inside:
        return inside(node, "body", [*states, *rows])

    found, states = _settled(node, _types(node, range(count)), infer, 0)
    if len(found.params) != node.count:
        raise Unsupported("Scan whose body takes another number of inputs")
    outputs = found.types[count:]
    out_axes = _padded_with(node.attribute("scan_output_axes"), len(outputs))
    stacked = [_stacked(node, row, times, at) for row, at in zip(outputs, out_axes, strict=True)]
    _define(node, [*states, *stacked])
    _scanned(node, found, states, axes, [_stacked(node, row, times) for row in outputs], out_axes)


def _padded_with(given: Any, count: int) -> list[int]:
    """Axes, or directions, one for each; 0 if nothing is said."""
    found = given if isinstance(given, list) else []
    return [int(item) for item in [*found, *[0] * count][:count]]


def _row(node: Node, index: int, axis: int, times: Any) -> Type:
    """The type of a row of an input along an axis; the axis has the size that all of them have."""
    word = node.shape(index)
    if word is None:
        return node.unknown(node.elem(index))
    if not -len(word) <= axis < len(word):
        raise Unsupported(f"Scan along axis {axis} of {len(word)}")
    at = axis % len(word)
    origin = Origin("value", node.span, "Scan")
    unify(node.importer.state, Tensor("f32", (times,)), Tensor("f32", (word[at],)), origin)
    return Tensor(node.elem(index), (*word[:at], *word[at + 1 :]))


def _scanned(
    node: Node,
    found: Inside,
    states: Sequence[Type],
    axes: Sequence[int],
    stacked: Sequence[Type],
    out_axes: Sequence[int],
) -> None:
    """A loop over the rows of the inputs, moved to the front or turned round where that is said."""
    count, given = len(states), []
    directions = _padded_with(node.attribute("scan_input_directions"), len(axes))
    for i, (axis, backwards) in enumerate(zip(axes, directions, strict=True)):
        expr = _moved(node, node.given(count + i), node.rank(count + i), axis, 0)
        given.append(node.call("reverse", expr) if expr is not None and backwards else expr)
    params, made, rows = found.params[:count], found.outputs[:count], found.outputs[count:]
    same = _same(node, range(count), params, made)
    turns = Turns(node, found, params, made, rows, same)
    sure = [expr for expr in given if expr is not None]
    if len(sure) < len(given):
        return
    expr = turns.over([node.given(i) for i in range(count)], found.params[count:], sure)
    names = _padded(node.outputs, count + len(rows))
    directions = _padded_with(node.attribute("scan_output_directions"), len(rows))
    turned: list[Step] = []
    for i, (type_, axis, backwards) in enumerate(zip(stacked, out_axes, directions, strict=True)):
        name, rank = names[count + i], ranked(node, type_)
        if not name or (axis == 0 and not backwards):
            continue
        first = hidden(node, f"{name}/rows", name, type_)
        row: ast.Expr | None = ast.Name(node.importer.alias(first), node.span)
        row = node.call("reverse", row) if backwards else row
        row = _moved(node, row, None if rank is None else len(rank.shape), 0, axis)
        turned.append(Step((name,), row, node.proto))
        names[count + i] = first
    _gives(node, expr, names[:count], names[count:], [*states, *stacked])
    node.importer.steps += turned


def _moved(node: Node, x: ast.Expr, rank: int | None, source: int, target: int) -> ast.Expr | None:
    """A tensor with one axis moved; None if its rank is not known and matters."""
    if source == target:
        return x
    if rank is None:
        return None
    source, target = source % rank, target % rank
    order = [axis for axis in range(rank) if axis != source]
    order.insert(target, source)
    return x if source == target else node.call("transpose", x, perm=order)
