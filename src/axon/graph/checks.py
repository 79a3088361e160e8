"""Placement of run-time checks: each comes right after the nodes that make its sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from axon.graph.graph import Apply, Check, Function, Node, Value
from axon.graph.sizes import SizeVar, operands_of, provided, readable, relation_needs
from axon.solver.constraints import Guard
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Broadcast, DimBroadcast, DimEq, Renaming
from axon.types.variables import DimVar, ShapeVar, owner


@dataclass(slots=True, eq=False)
class _Waiting:
    """A check that is not placed yet. A broadcast whose result an operator makes is checked twice:
    whether its parts fit, before that operator runs, and then its result. `parts` are the sizes
    that the first check needs.
    """

    guard: Guard
    needs: set[SizeVar]
    equal: dict[DimVar, _Equal]
    parts: set[SizeVar] | None = None
    made: bool = False

    def ready(self, known: set[SizeVar], _: Collection[SizeVar]) -> Iterator[Guard]:
        """The checks that can be made now, where some sizes are `new`."""
        if self.made:
            return
        found = self._known(self.needs, known)
        if found is not None:
            self.made = True
            yield _renamed(self.guard, found)
        elif self.parts is not None:
            found = self._known(self.parts, known)
            if found is not None:
                self.parts = None
                yield _renamed(_of_parts(self.guard), found)

    def _known(self, needs: set[SizeVar], known: set[SizeVar]) -> dict[DimVar, DimVar] | None:
        """Known sizes that checks equate with the unknown ones; None if there are none."""
        found: dict[DimVar, DimVar] = {}
        for var in needs - known:
            others = self.equal[var].sizes if isinstance(var, DimVar) and var in self.equal else ()
            other = next((v for v in others if v in known), None)
            if not isinstance(var, DimVar) or other is None:
                return None
            found[var] = other
        return found


@dataclass(slots=True, eq=False)
class _Equal:
    """A class of sizes that checks equate. As soon as two of them are known they are compared,
    whichever pair the checks state. `seen` are known.
    """

    members: dict[Dim, Guard]
    equal: dict[DimVar, _Equal] = field(default_factory=dict)
    seen: tuple[tuple[Dim, Dim], ...] = ()

    def ready(self, known: set[SizeVar], _: Collection[SizeVar]) -> Iterator[Guard]:
        for size, guard in self.members.items():
            if any(size == other for other, _ in self.seen):
                continue
            found = self._in_known(size, known)
            if found is None:
                continue
            if self.seen:
                first = self.seen[0][1]
                written = {found, first} == set(_sides(guard) or ())
                yield guard if written else replace(guard, relation=DimEq(found, first))
            self.seen = (*self.seen, (size, found))

    def _in_known(self, size: Dim, known: set[SizeVar]) -> Dim | None:
        """The size in terms of known ones: unknown ones are replaced by their equals."""
        unknown = _variables(size) - known
        if not unknown:
            return size
        if isinstance(size, DimVar):
            return None
        others: dict[DimVar, DimVar] = {}
        for var in unknown:
            alike = self.equal.get(var) if isinstance(var, DimVar) else None
            other = next((v for v in alike.sizes if v in known), None) if alike else None
            if not isinstance(var, DimVar) or other is None:
                return None
            others[var] = other
        return dims.substitute(size, lambda v: others.get(v, v), dims.of_size)

    @property
    def sizes(self) -> list[DimVar]:
        """The sizes of the class that are variables."""
        return [size for size in self.members if isinstance(size, DimVar)]


class _Checks:
    """The checks that are not placed yet, by the sizes that they mention."""

    def __init__(self, checks: list[Guard], made: set[SizeVar]) -> None:
        self.classes = _classes(checks)
        self.equal = {var: each for each in self.classes for var in each.sizes}
        for each in self.classes:
            each.equal = self.equal
        self.entries: list[_Waiting] = []
        self.at_once: list[_Waiting] = []
        self.by_size: dict[SizeVar, list[_Waiting | _Equal]] = {}
        for each in self.classes:
            for var in {var for size in each.members for var in _variables(size)}:
                for other in self._equal_sizes(var):
                    self.by_size.setdefault(other, []).append(each)
        for guard in checks:
            if _sides(guard) is None:
                self._add(guard, made)

    def _add(self, guard: Guard, made: set[SizeVar]) -> None:
        entry = _Waiting(guard, relation_needs(guard.relation, made), self.equal)
        if isinstance(guard.relation, Broadcast | DimBroadcast):
            entry.parts = relation_needs(_of_parts(guard).relation)
        self.entries.append(entry)
        if not entry.needs or entry.parts == set():
            self.at_once.append(entry)
        for var in entry.needs | (entry.parts or set()):
            for each in self._equal_sizes(var):
                self.by_size.setdefault(each, []).append(entry)

    def _equal_sizes(self, var: SizeVar) -> Sequence[SizeVar]:
        """A size and those that checks equate with it."""
        alike = self.equal.get(var) if isinstance(var, DimVar) else None
        return [var] if alike is None else alike.sizes

    def ready(
        self, known: set[SizeVar], new: Collection[SizeVar], start: bool = False
    ) -> list[Check]:
        """The checks that can be made now that some sizes are `new`."""
        entries: list[_Waiting | _Equal] = [*self.at_once] if start else []
        for var in sorted(new, key=lambda v: v.id):
            entries += self.by_size.get(var, ())
        found = [g for entry in dict.fromkeys(entries) for g in entry.ready(known, new)]
        return [Check(guard.relation, guard.origin, guard.depth) for guard in found]


def place_checks(
    params: tuple[Value, ...], nodes: Iterable[Node], checks: list[Guard]
) -> tuple[Node, ...]:
    """The nodes with the checks among them. A check on sizes of a function that is called elsewhere
    is not placed here: the function has its own.
    """
    nodes = tuple(nodes)
    made = {v for p in params for v, _ in readable(p)}.union(*map(_made, nodes))
    return _place(params, nodes, _Checks(checks, made), set(), start=True)


def _sides(guard: Guard) -> tuple[Dim, Dim] | None:
    """The two sizes that a check equates."""
    match guard.relation:
        case DimEq(left, right):
            return left, right
        case _:
            return None


def _variables(size: Dim) -> set[SizeVar]:
    return {owner(var) for var in dims.variables(size)}


def _classes(checks: Sequence[Guard]) -> list[_Equal]:
    found: dict[Dim, _Equal] = {}
    for guard in checks:
        sides = _sides(guard)
        if sides is None:
            continue
        known = [found[side] for side in sides if side in found]
        whole = known[0] if known else _Equal({})
        if len(known) > 1 and known[1] is not whole:
            whole.members.update(known[1].members)
        for side in sides:
            whole.members.setdefault(side, guard)
        found.update(dict.fromkeys(whole.members, whole))
    return list({id(each): each for each in found.values()}.values())


def _renamed(guard: Guard, sizes: dict[DimVar, DimVar]) -> Guard:
    if not sizes:
        return guard
    return replace(guard, relation=Renaming(dict(sizes), {}, {}, {}).relation(guard.relation))


def _of_parts(guard: Guard) -> Guard:
    """The check that the parts of a broadcast fit each other, whatever its result."""
    match guard.relation:
        case Broadcast(_, parts):
            return replace(guard, relation=Broadcast((ShapeVar("", runtime=True),), parts))
        case DimBroadcast(_, sizes):
            return replace(guard, relation=DimBroadcast(DimVar("", runtime=True), sizes))
        case _:
            raise AssertionError(guard)


def _made(node: Node) -> set[SizeVar]:
    """The sizes that a node makes, including those in its functions."""
    found = set(provided(node))
    for operand in operands_of(node):
        if isinstance(operand, Function):
            found |= {v for p in operand.params for v, _ in readable(p)}
            found = found.union(*map(_made, operand.nodes))
    return found


def _place(
    params: tuple[Value, ...],
    nodes: Iterable[Node],
    waiting: _Checks,
    outer: set[SizeVar],
    start: bool = False,
) -> tuple[Node, ...]:
    given = {v for p in params for v, _ in readable(p)}
    known = outer | given
    result: list[Node] = [*waiting.ready(known, given, start)]
    for node in nodes:
        if isinstance(node, Apply) and any(isinstance(o, Function) for o in node.operands):
            operands = tuple(
                replace(o, nodes=_place_in_function(o, waiting, known))
                if isinstance(o, Function)
                else o
                for o in node.operands
            )
            node = replace(node, operands=operands)
        result.append(node)
        new = provided(node)
        known |= new
        result += waiting.ready(known, new)
    return tuple(result)


def _place_in_function(
    function: Function, waiting: _Checks, known: set[SizeVar]
) -> tuple[Node, ...]:
    """The same in a function: sizes known inside are not known after it, and a size that was
    checked outside may differ inside.
    """
    before = [each.seen for each in waiting.classes]
    looked = [(entry.parts, entry.made) for entry in waiting.entries]
    nodes = _place(function.params, function.nodes, waiting, known)
    for each, seen in zip(waiting.classes, before, strict=True):
        each.seen = seen
    for entry, state in zip(waiting.entries, looked, strict=True):
        entry.parts, entry.made = state
    return nodes
