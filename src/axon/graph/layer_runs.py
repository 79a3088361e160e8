"""Runs of layers: calls of one graph, each of which takes what the one before it has returned.

    x1 = layer(p0, x0);  x2 = layer(p1, x1);  x3 = layer(p2, x2)

Law: a run may be computed as one loop, at the place of its last call. So nothing else that its
calls take depends on one of them. What depends on them comes behind the run; what only hands a
result on to the next call is left out.

Tuples and records are looked at by their leaves: a state may be a part of what a layer returns, or
several parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from axon.graph.graph import (
    Alias,
    Bundle,
    Call,
    Check,
    Function,
    Graph,
    Item,
    Measure,
    Node,
    Number,
    Operand,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.sizes import (
    SizeVar,
    needed,
    needed_inside,
    operand_needs,
    operands_of,
    provided,
    values_in,
)
from axon.types.type import Tuple, Type

Path = tuple[int, ...]

SHORTEST = 2
"""The fewest calls that are a run. For small layers XLA is faster with a few calls in line than
with a loop, by tenths of a second; for large ones it is not, by seconds.
"""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of an operand: where it comes from, and its place there."""

    root: Operand
    path: Path

    def of_one_size(self, other: Leaf) -> bool:
        """Whether it is the same size, if it is one: a loop has one program for all its calls."""
        is_size = isinstance(self.root, SizeOf | ShapeOf) and not self.root.elem
        return self == other if is_size else True

    def same(self, other: Leaf) -> bool:
        """Whether it is the same part of the same value; -0.0 is not 0.0."""
        return self == other and (
            not (isinstance(self.root, Number) and isinstance(other.root, Number))
            or repr(self.root.value) == repr(other.root.value)
        )


State = tuple[tuple[int, int], ...]
"""Which leaf of the operands is which leaf of the result of the call before."""


@dataclass(frozen=True, eq=False)
class LayerRun:
    """`leaves` are those of each call's operands, `wanted` those of each call's result that are
    used for anything but the next call.
    """

    calls: tuple[Call, ...]
    leaves: tuple[tuple[Leaf, ...], ...]
    state: State
    wanted: tuple[frozenset[int], ...]

    @cached_property
    def same(self) -> frozenset[int]:
        """The leaves of the operands that are the same in each call."""
        carried = {at for at, _ in self.state}
        first, *others = self.leaves
        return frozenset(
            at
            for at, leaf in enumerate(first)
            if at not in carried and all(leaf.same(other[at]) for other in others)
        )


Step = Node | LayerRun

Kind = Callable[[Call], object]
"""A key that is equal for calls that compute the same; None for one that is in no run."""


def with_runs(whole: Graph | Function, kind: Kind) -> list[Step]:
    """The nodes of a graph in an order in which they can be computed, with runs in it."""
    steps: list[Step] = list(whole.nodes)
    search = _Search(whole, kind)
    at = 0
    while at < len(steps):
        step = steps[at]
        found = search.run(steps, at) if isinstance(step, Call) else None
        if found is None:
            at += 1
        else:
            steps = found
    return steps


class _Search:
    """What is known of the nodes of a graph."""

    def __init__(self, whole: Graph | Function, kind: Kind) -> None:
        self.kind = kind
        self.result = whole.result
        self.made: dict[Value, Item | Alias] = {}
        self.uses: dict[Step, frozenset[Value]] = {}
        self.by_size: dict[Node, frozenset[Value]] = {}
        first: dict[SizeVar, Value] = {}
        for node in whole.nodes:
            if isinstance(node, Item | Alias):
                self.made[node.result] = node
            sizes = needed(node).union(*map(needed_inside, operands_of(node)))
            by_size = frozenset(first[v] for v in sizes if v in first)
            self.by_size[node] = by_size
            self.uses[node] = by_size.union(*map(values_in, operands_of(node)))
            if not isinstance(node, Measure | Check):
                for var in provided(node):
                    first.setdefault(var, node.result)
        sizes = operand_needs(whole.result)
        self.last = frozenset(values_in(whole.result)).union(first[v] for v in sizes if v in first)

    def run(self, steps: list[Step], at: int) -> list[Step] | None:
        """The steps with the run that begins with a call, if one does."""
        grown = self.grown(steps, at)
        if grown is None:
            return None
        calls, leaves, state, depends = grown
        stop = steps.index(calls[-1], at) + 1
        between = [step for step in steps[at:stop] if step not in calls]
        behind = [step for step in between if step in depends] + steps[stop:]
        kept, wanted = self.left(behind, calls)
        run = LayerRun(calls, leaves, state, wanted)
        self.uses[run] = frozenset().union(*(self.uses[call] for call in calls))
        return [*steps[:at], *(step for step in between if step not in depends), run, *kept]

    def grown(
        self, steps: Sequence[Step], at: int
    ) -> tuple[tuple[Call, ...], tuple[tuple[Leaf, ...], ...], State, set[Step]] | None:
        """The calls from here on that follow each other, and all steps that depend on them."""
        first = steps[at]
        assert isinstance(first, Call)
        kind = self.kind(first)
        if kind is None:
            return None
        calls, leaves = [first], [self.leaves(first)]
        places = {path: i for i, path in enumerate(paths(first.result.type))}
        state: State = ()
        depends: set[Step] = set()
        values = {first.result}
        for step in steps[at + 1 :]:
            if isinstance(step, Call) and step.graph is first.graph and self.kind(step) == kind:
                found = self.leaves(step)
                link = tuple([
                    (i, places[leaf.path])
                    for i, leaf in enumerate(found)
                    if leaf.root is calls[-1].result and leaf.path in places
                ])  # fmt: skip
                carried = {i for i, _ in link}
                free = values.isdisjoint(self.by_size[step]) and not any(
                    leaf.root in values for i, leaf in enumerate(found) if i not in carried
                )
                alike = all(map(Leaf.of_one_size, leaves[0], found))
                if link and free and alike and state in ((), link):
                    calls.append(step)
                    leaves.append(found)
                    state = link
                    values.add(step.result)
                    continue
            if not values.isdisjoint(self.uses[step]):
                depends.add(step)
                values.update(_results(step))
        if len(calls) < SHORTEST:
            return None
        return tuple(calls), tuple(leaves), state, depends

    def left(
        self, behind: Sequence[Step], calls: Sequence[Call]
    ) -> tuple[list[Step], tuple[frozenset[int], ...]]:
        """The steps behind a run without those that only serve it, and which leaves of the results
        of its calls are wanted then.
        """
        used = set(self.last)
        kept: list[Step] = []
        for step in reversed(behind):
            if not isinstance(step, Item | Alias) or step.result in used:
                kept.append(step)
                used |= self.uses[step]
        kept.reverse()
        wanted: dict[Value, set[int]] = {call.result: set() for call in calls}
        for step in kept:
            for value in self.uses[step] & wanted.keys():
                all_of = () if not isinstance(step, Item) else (step.index,)
                wanted[value].update(
                    i for i, path in enumerate(paths(value.type)) if path[: len(all_of)] == all_of
                )
        for value in self.last & wanted.keys():
            wanted[value].update(range(len(paths(value.type))))
        return kept, tuple([frozenset(wanted[call.result]) for call in calls])

    def leaves(self, call: Call) -> tuple[Leaf, ...]:
        pairs = zip(call.graph.params, call.operands, strict=True)
        return tuple([
            source(operand, path, self.made)
            for param, operand in pairs
            for path in paths(param.type)
        ])  # fmt: skip


def source(operand: Operand, path: Path, made: Mapping[Value, Item | Alias]) -> Leaf:
    """Where a part of an operand comes from: further out than items, other names and bundles."""
    while True:
        match operand:
            case Bundle(items) if path:
                operand, path = items[path[0]], path[1:]
            case Value() if operand in made:
                match made[operand]:
                    case Item(_, whole, index):
                        operand, path = whole, (index, *path)
                    case Alias(_, operand):
                        pass
            case _:
                return Leaf(operand, path)


def paths(type_: Type) -> list[Path]:
    """The places of the leaves of a value."""
    return list(_paths(type_))


def _paths(type_: Type) -> Iterator[Path]:
    if isinstance(type_, Tuple):
        for i, item in enumerate(type_.items):
            for path in _paths(item):
                yield (i, *path)
    else:
        yield ()


def _results(step: Step) -> list[Value]:
    if isinstance(step, LayerRun):
        return [call.result for call in step.calls]
    return [] if isinstance(step, Measure | Check) else [step.result]
