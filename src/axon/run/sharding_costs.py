"""What each choice of sizes to cut along the axes of a mesh costs, as a table.

A choice says for each axis of the mesh which size it cuts, or none. The one that is suggested has
the fewest bytes of arguments on a device; among those, the fewest bytes that devices send each
other; then the fewest operations between devices, and then the sizes that come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy

from axon.backends.coder import Externs
from axon.backends.collectives import KINDS, Collective
from axon.backends.meshes import Mesh, Shard
from axon.backends.numpy_arrays import element
from axon.graph.graph import Graph
from axon.graph.sharding import CannotShard, Placement
from axon.inference.program import Definition
from axon.run.errors import ArgumentError
from axon.run.initial import as_arguments
from axon.run.parameters import Settled
from axon.run.sharding import cuttable, placed
from axon.types.type import DimValue, Record, ShapeValue, Tensor, Tuple, Type, type_variables
from axon.types.variables import DimVar, ShapeVar, is_ragged

if TYPE_CHECKING:
    from axon.backends.jax_sharding import Sharding

MOST_COMPILED = 12
"""How many choices are compiled: those with the fewest bytes on a device."""
MOST_TRIED = 5_000
"""How many choices there may be."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A choice: the bytes of each argument on a device, and the operations between devices, as the
    compiler has them for one call.
    """

    shard: Shard
    arguments: tuple[tuple[str, int], ...]
    collectives: tuple[Collective, ...]

    @property
    def bytes(self) -> int:
        return sum(count for _, count in self.arguments)

    @property
    def sent(self) -> int:
        """The bytes of the results of all operations between devices, on one device."""
        return sum(each.bytes for each in self.collectives)

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(each.kind for each in self.collectives)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    def __str__(self) -> str:
        cut = (f"{size} -> {' and '.join(axes)}" for size, axes in self.shard)
        return ", ".join(cut) or "nothing"


@dataclass(frozen=True, slots=True, repr=False)
class Costs:
    """The choices, cheapest first. It prints as a table, and can be iterated over."""

    name: str
    mesh: Mesh
    choices: tuple[Cost, ...]
    left_out: int
    """How many more there are, with more bytes on a device."""

    @property
    def suggested(self) -> Cost:
        return self.choices[0]

    def __iter__(self) -> Iterator[Cost]:
        return iter(self.choices)

    def __len__(self) -> int:
        return len(self.choices)

    def __repr__(self) -> str:
        mesh = " x ".join(f"{name}={size}" for name, size in self.mesh)
        names = [name for name, _ in self.choices[0].arguments]
        lines = [["cut", *names, "total", "sent", "operations"]]
        for cost in self.choices:
            counts = ", ".join(f"{count} {kind}" for kind, count in cost.counts.items())
            each = [f"{count:,}" for _, count in cost.arguments]
            lines.append([str(cost), *each, f"{cost.bytes:,}", f"{cost.sent:,}", counts or "none"])
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        text = [f"{self.name} on {mesh}: bytes on a device"]
        text += [_line(line, widths) for line in lines]
        if self.left_out:
            text.append(f"and {self.left_out} more, with more bytes on a device")
        if self.suggested.shard:
            return "\n".join([*text, f"suggested: {_written(self.suggested.shard)}"])
        nothing = "no axis divides a size: with buckets= beside shard= sizes are padded"
        return "\n".join([*text, f"suggested: none, {nothing}"])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *numbers, last = cells
    middle = [f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:-1], strict=True)]
    return "  ".join([f"{first:<{widths[0]}}", *middle, last]).rstrip()


def _written(shard: Shard) -> str:
    parts = (f"{s!r}: {axes[0]!r}" if len(axes) == 1 else f"{s!r}: {axes!r}" for s, axes in shard)
    return "shard={" + ", ".join(parts).replace("'", '"') + "}"


def choices(sizes: Sequence[str], mesh: Mesh) -> Iterator[Shard]:
    """Which size each axis cuts; a size is cut by one axis at most."""
    for cut in product((*sizes, None), repeat=len(mesh)):
        used = [size for size in cut if size is not None]
        if len(set(used)) == len(used):
            pairs = zip(cut, mesh, strict=True)
            yield tuple((size, (axis,)) for size, (axis, _) in pairs if size is not None)


def cheapest(costs: Sequence[Cost]) -> tuple[Cost, ...]:
    """Sorted by the rule above; the order of those that cost the same stays."""
    return tuple(sorted(costs, key=lambda cost: (cost.bytes, cost.sent, len(cost.collectives))))


# --- finding them ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subject:
    """A call that is not made: the graph for it, the same with open sizes, and its arguments."""

    definition: Definition
    graph: Graph
    typed: Graph
    externs: Externs
    args: Sequence[Any]


def costs(subject: Subject, mesh: Mesh, own: Shard | None = None) -> Costs:
    """The choices whose sizes the mesh divides, that of the caller's `own` among them; raises
    `CannotShard`.
    """
    from axon.backends.jax_sharding import Sharding

    sizes = cuttable(subject.definition, subject.typed)
    if (len(sizes) + 1) ** min(len(mesh), MOST_TRIED) > MOST_TRIED:
        raise CannotShard(
            f"there are more than {MOST_TRIED:,} ways to cut {len(sizes)} sizes along {len(mesh)} "
            "axes: give a mesh of fewer axes"
        )
    sharding = Sharding(mesh, ())
    found: list[Cost] = []
    every = choices(sizes, mesh)
    for shard in dict.fromkeys(every if own is None else [*every, own]):
        with suppress(CannotShard):  # of what the mesh does not divide
            found.append(_arguments(subject, sharding, shard))
    found = list(cheapest(found))
    compiled: list[Cost] = []
    problem: CannotShard | None = None
    for cost in found:
        if len(compiled) >= MOST_COMPILED and cost.shard != own:
            continue
        placement = _placed(subject, cost.shard)
        try:
            sent = sharding.collectives(subject.graph, subject.externs, placement, subject.args)
        except CannotShard as found_problem:
            problem = found_problem
            continue
        compiled.append(replace(cost, collectives=tuple(sent)))
    if not compiled and problem is not None:  # nothing of it is compiled as a whole
        raise problem
    left_out = len(found) - len(compiled)
    return Costs(subject.definition.name, mesh, cheapest(compiled), left_out)


def _placed(subject: Subject, shard: Shard) -> Placement:
    return placed(subject.definition, subject.graph, subject.typed, shard)


def _arguments(subject: Subject, sharding: Sharding, shard: Shard) -> Cost:
    values = _placed(subject, shard).values
    params = subject.graph.params
    trees = [values.get(param) for param in params]
    sharding.check_all([param.type for param in params], trees, subject.args)
    each = zip(params, trees, subject.args, strict=True)
    counts = [(param.name, sharding.bytes(param.type, tree, arg)) for param, tree, arg in each]
    return Cost(shard, tuple(counts), ())


def stand_ins(about: str, found: Settled, optional: Container[str]) -> dict[str, Any]:
    """An argument of each of these types; optional ones may have open sizes, and are left out."""
    given = {name: stand_in(type_) for name, type_ in found.types.items()}
    opens = [name for name, value in given.items() if value is None and name not in optional]
    if opens:
        types, show = {name: found.types[name] for name in opens}, found.show
        listed = ", ".join(f"`{name} : {show.type(type_)}`" for name, type_ in types.items())
        variables = {v for type_ in types.values() for v in type_variables(type_)}
        if any(map(is_ragged, variables)):
            raise ArgumentError(f"{about}: the rows of {listed} vary in size: it cannot be sharded")
        sizes = {show.names(v): "…" for v in variables if isinstance(v, DimVar)}
        shapes = {show.names(v): "(…)" for v in variables if isinstance(v, ShapeVar)}
        how = as_arguments(dict(sorted({**sizes, **shapes}.items())))
        raise ArgumentError(
            f"{about}: the sizes of {listed} are open; give them by name: sharding(mesh, {how})"
            if how
            else f"{about}: the sizes of {listed} are not known"
        )
    return {name: value for name, value in given.items() if value is not None}


def stand_in(type_: Type) -> Any:
    """An argument of a type whose sizes are known, without memory of its own; None if some are
    open.
    """
    match type_:
        case Tensor(str() as elem, shape):
            sizes = [size for size in shape if isinstance(size, int)]
            if len(sizes) < len(shape):
                return None
            return numpy.broadcast_to(numpy.zeros((), element(elem)), sizes)
        case Record():
            fields = {name: stand_in(part) for name, part in type_.fields.items()}
            return None if any(part is None for part in fields.values()) else fields
        case Tuple(items):
            parts = tuple(map(stand_in, items))
            return None if any(part is None for part in parts) else parts
        case DimValue(int() as size):
            return size
        case ShapeValue(shape) if all(isinstance(size, int) for size in shape):
            return shape
        case _:
            return None
