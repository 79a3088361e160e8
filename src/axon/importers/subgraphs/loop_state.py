"""Loops: states that go from iteration to iteration, and the outputs of each iteration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.operations import Unsupported
from axon.importers.steps import Parts, Repeated, Step
from axon.importers.subgraphs.subgraph import Subgraph, either, function, hidden, ranked
from axon.types.type import Tensor, Tuple, Type, shape_variables, type_variables
from axon.types.variables import DimVar, ShapeVar

MOST_RANK = 64
"""Axes further out are of no tensor."""
Infer = Callable[[Sequence[Type]], Subgraph]
"""A body, inferred for states of these types."""


Open = set[DimVar | ShapeVar]
"""Variables for sizes that a body changes from iteration to iteration."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A body, the states at the start, those that every iteration takes and makes, and the sizes
    in them that change.
    """

    body: Subgraph
    begin: list[Type]
    states: list[Type]
    made: list[Type]
    open: Open

    def differ(self, node: Node) -> dict[int, list[int]]:
        """The axes along which states change, by the numbers of the states."""
        found = {}
        for i, each in enumerate(zip(self.begin, self.states, self.made, strict=True)):
            known = [ranked(node, type_) for type_ in each]
            words = [type_.shape for type_ in known if type_ is not None]
            if len(words) < len(each) or len(set(map(len, words))) > 1:
                continue
            axes = [
                axis for axis, sizes in enumerate(zip(*words, strict=True)) if len(set(sizes)) > 1
            ]
            if axes:
                found[i] = axes
        return found

    def last(self, node: Node) -> list[Type]:
        """The states after the loop: those at the start, or those that the last iteration made."""
        pairs = zip(self.begin, self.after(node, self.made), strict=True)
        return [either(node, begin, made) for begin, made in pairs]

    def after(self, node: Node, types: Sequence[Type]) -> list[Type]:
        """Types after the loop: a size that changes is then some other one."""
        return [self._after(node, type_) for type_ in types]

    def _after(self, node: Node, type_: Type) -> Type:
        found = node.importer.state.resolve(type_)
        if not isinstance(found, Tensor) or not self.open & set(type_variables(found)):
            return type_
        sizes: list[Any] = []
        for item in found.shape:
            if self.open.isdisjoint(shape_variables((item,))):
                sizes.append(item)
            elif isinstance(item, ShapeVar):
                sizes.append(node.importer.state.fresh_shape())
            else:
                sizes.append(node.fresh_dim())
        return Tensor(found.elem, tuple(sizes))


def settled(node: Node, states: list[Type], infer: Infer, skip: int) -> Settled:
    """The body, and the states without the sizes that it changes, found in a few attempts. The
    body makes the states after `skip` others.
    """
    open_: Open = set()
    begin = states
    for _ in range(4):
        found = infer(states)
        made = found.types[skip : skip + len(states)]
        if len(made) < len(states):
            raise Unsupported(f"{node.operator}: the body does not give all states")
        joined = [_kept(node, a, b, open_) for a, b in zip(states, made, strict=True)]
        if all(a is b for a, b in zip(states, joined, strict=True)):
            return Settled(found, begin, states, made, open_)
        states = joined
    states = [node.unknown() for _ in states]
    found = infer(states)
    open_ = {v for t in states for v in type_variables(t) if isinstance(v, DimVar | ShapeVar)}
    made = found.types[skip : skip + len(states)]
    return Settled(found, begin, states, made, open_)


def _kept(node: Node, state: Type, made: Type, open_: Open) -> Type:
    """A state with the sizes that the body keeps; the others are open from now on. The state itself
    if there is nothing to forget.
    """
    before, after = ranked(node, state), ranked(node, made)
    if before is None or after is None or len(before.shape) != len(after.shape):
        return _unranked(node, state, made, open_)
    assert isinstance(state, Tensor)
    own = state.shape if len(state.shape) == len(before.shape) else before.shape
    changed = [
        x != y and item not in open_
        for item, x, y in zip(own, before.shape, after.shape, strict=True)
    ]
    if not any(changed):
        return state
    sizes: list[Any] = []
    for size, forget in zip(before.shape, changed, strict=True):
        if forget:
            size = node.fresh_dim()
            open_.add(size)
        sizes.append(size)
    return Tensor(before.elem, tuple(sizes))


def _unranked(node: Node, state: Type, made: Type, open_: Open) -> Type:
    """The same where not even the rank is known, or where it changes."""
    before, after = map(node.importer.state.resolve, (state, made))
    if before == after:
        return state
    if not isinstance(before, Tensor):
        return node.unknown()
    if len(before.shape) == 1 and before.shape[0] in open_:
        return state
    whole = node.importer.state.fresh_shape()
    open_.add(whole)
    return Tensor(before.elem, (whole,))


def define(node: Node, types: Sequence[Type]) -> None:
    for name, type_ in zip(node.outputs, types, strict=False):
        if name:
            node.importer.define(name, type_)


def types_of(node: Node, indices: Sequence[int]) -> list[Type]:
    return [node.importer.types.get(node.name(i)) or node.unknown() for i in indices]


def stacked(node: Node, row: Type, times: Any, axis: int = 0) -> Type:
    known = ranked(node, row)
    if known is None:
        return node.unknown()
    at = axis % (len(known.shape) + 1)
    return Tensor(known.elem, (*known.shape[:at], times, *known.shape[at:]))


def rows_of(node: Node, indices: Sequence[int], axes: Sequence[int]) -> tuple[Sequence[Type], Any]:
    """The types of the rows of some inputs, each along its axis, and how many there are of each."""
    wholes, rows, parts = list[str](), list[str](), []
    for i, (index, axis) in enumerate(zip(indices, axes, strict=True)):
        rank = node.rank(index)
        if not -MOST_RANK <= axis < MOST_RANK or (rank is not None and not -rank <= axis < rank):
            node.refuse_axis(index, axis)
            raise Unsupported(f"{node.operator} along axis {axis}")
        beside = [f"n{i}_{k}" for k in range(axis if axis >= 0 else -axis - 1)]
        for sizes, kinds in ((["n"], wholes), ([], rows)):
            if axis >= 0:
                kinds.append(f"t{i} [{', '.join([*beside, *sizes])}]@s{i}")
            else:
                kinds.append(f"t{i} s{i}@[{', '.join([*sizes, *beside])}]")
        parts.append(node.input(index))
    signature = f"({', '.join(wholes)}) -> ({', '.join(rows)})"
    found = node.importer.state.prune(node.infer(node.declared(signature, *parts)))
    counts = [node.dim(index, axis) for index, axis in zip(indices, axes, strict=True)]
    times = next((size for size in counts if size is not None), None)
    made = found.items if isinstance(found, Tuple) else [found]
    return made, node.fresh_dim() if times is None else times


def same_types(
    node: Node,
    indices: Sequence[int],
    params: Sequence[str],
    made: Sequence[str],
    differ: Collection[int] = (),
) -> list[tuple[str, str]]:
    """What the states begin with has the types that they keep, but for those that change."""
    each = enumerate(zip(indices, params, made, strict=True))
    kept = [(node.name(i), param, after) for at, (i, param, after) in each if at not in differ]
    return [
        *((begin, param) for begin, param, _ in kept),
        *((param, after) for _, param, after in kept),
    ]


# --- outputs ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Iterations:
    """The body of a loop: the states that it takes and makes, and the outputs of each iteration.
    `differ` has the axes along which states change.
    """

    node: Node
    body: Subgraph
    params: Sequence[str]
    states: Sequence[str]
    rows: Sequence[str]
    same: Sequence[tuple[str, str]]
    more: Sequence[Step] = ()
    differ: Mapping[int, list[int]] = field(default_factory=dict)

    @property
    def changing(self) -> dict[str, object]:
        """The axes along which states change, as attributes of a loop."""
        if not self.differ:
            return {}
        if len(self.params) == 1:
            return {"differ": self.differ[0]}
        pairs = [[part, axis] for part, axes in self.differ.items() for axis in axes]
        return {"differ": pairs, "parts": len(self.params)}

    def over(
        self, begin: Sequence[Expression], items: Sequence[str], given: Sequence[Expression]
    ) -> Expression:
        """Once for each row of some tensors, which the body calls `items`."""
        node, rows = self.node, self.rows
        if not self.params and len(rows) == 1:
            return node.call("map", self.function(tuple(items), rows[0]), *given)
        state, taken = node.tuple_of(begin), (as_parts(self.params), *items)
        if not rows:
            made = self.function(taken, as_parts(self.states))
            return node.call("fold", state, made, *given, **self.changing)
        made = self.function(taken, (as_parts(self.states), as_parts(rows)))
        return node.call("loop", state, made, *given, outputs=len(rows), **self.changing)

    def holding(
        self, begin: Sequence[Expression], test: str, how: Sequence[Step | Repeated]
    ) -> Expression:
        """While a condition holds of the state."""
        node, rows, taken = self.node, self.rows, (as_parts(self.params),)
        condition = function(node, self.body, taken, test, self.same, how, "while")
        made = as_parts(self.states) if not rows else (as_parts(self.states), as_parts(rows))
        step = self.function(taken, made)
        state = node.tuple_of(begin)
        return node.call("iterate", state, condition, step, outputs=len(rows), **self.changing)

    def function(self, params: tuple[Parts, ...], result: Parts) -> Expression:
        steps = [*self.more, *self.body.steps]
        return function(self.node, self.body, params, result, self.same, steps)


def write_loop(
    node: Node,
    expr: Expression,
    states: Sequence[str],
    rows: Sequence[str],
    types: Sequence[Type],
    fallback: Expression | None = None,
) -> None:
    """An expression makes a state and rows, each one tensor or a tuple of some; `types` are theirs,
    in that order. A state without a name is not used.
    """
    rows, even = _as_they_come(node, rows, types[len(states) :])
    if not rows or (not states and len(rows) == 1):
        node.step((*states, *rows), expr, fallback)
    else:
        state = _joint_name(node, "state", states, types)
        row = _joint_name(node, "rows", rows, types[len(states) :])
        node.step((state, row), expr, fallback)
        for part, names in ((state, states), (row, rows)):
            if len(names) > 1:
                node.step(tuple(names), node.tensor(part))
    node.importer.steps += even


def _as_they_come(
    node: Node, rows: Sequence[str], types: Sequence[Type]
) -> tuple[list[str], list[Step]]:
    """Names for rows as the iterations make them, and steps to the model's own. All rows of one
    output have one size; where only a run knows it, they are measured.
    """
    names, steps, importer = list(rows), list[Step](), node.importer
    sayable = {v for name in importer.inputs for v in type_variables(importer.type(name))}
    for i, (name, type_) in enumerate(zip(rows, types, strict=False)):
        known = ranked(node, type_)
        sizes = () if known is None else known.shape[1:]
        told = [sayable.issuperset(shape_variables((size,))) for size in sizes]
        axes = [axis for axis, is_told in enumerate(told, 1) if not is_told]
        if name and axes:
            names[i] = hidden(node, f"{name}⟨each⟩", name, type_)
            whole = node.call("measured", node.tensor(names[i]), axis=axes)
            steps.append(Step((name,), whole, node.operation))
    return names, steps


def _joint_name(node: Node, own: str, names: Sequence[str], types: Sequence[Type]) -> str:
    """One name for all of them."""
    if len(names) < 2:
        return "".join(names)
    name = f"{next(filter(None, node.outputs), '')}⟨{own}⟩"
    return hidden(node, name, own, Tuple(tuple(types[: len(names)])))


def padded(names: Sequence[str], count: int) -> list[str]:
    """The names of so many outputs; the last ones may not be there."""
    return [*names, *[""] * (count - len(names))][:count]


def as_parts(names: Sequence[str]) -> Parts:
    return names[0] if len(names) == 1 else tuple(names)
