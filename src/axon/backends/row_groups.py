"""A function of rows, applied to groups of rows that are padded to one bucket (`row_buckets`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy

from axon.backends.checks import Sizes
from axon.backends.failures import is_expected
from axon.backends.ragged import Ragged, Row
from axon.backends.ragged_host import host, namespace
from axon.backends.row_application import GROUPS, Lifted, Plan
from axon.backends.row_buckets import RowFunction, Together, Version
from axon.backends.row_levels import which
from axon.backends.row_stacks import Numbers, Source, assembled
from axon.backends.segments.frames import TooLarge
from axon.backends.stepwise import Stepwise
from axon.ops.arrays import Value
from axon.ops.memory import Refused

FILL: float = 0
"""What stands in the padding of arguments. Tests put in what does harm."""

ROOM = 256
"""For how many elements there is room in a stack at least, of no more than `FEW` rows."""

FEW = 16


def in_groups(
    plan: Plan, xp: Any, function: Any, tensors: Sequence[Row], single: bool = False
) -> Value | None:
    """The results of all rows; None where the rows have to go another way. Each `single` row is
    given as a batch of one.
    """
    if not isinstance(function, Lifted) or function.padded is None:
        return None
    if isinstance(xp, Stepwise):
        xp = xp.xp
    padded: RowFunction = function.padded
    if isinstance(padded.row, str) or not all(map(_is_flat, tensors)) or not len(tensors[0]):
        return None
    if any(type(size) is not int for size in function.sizes):
        return None
    if any(isinstance(value, Ragged) for value in function.values):
        return None
    given = [*function.values, *function.sizes]
    sources = [Source(tensor, single) for tensor in tensors]
    bound = padded.bound(given, [source.shapes for source in sources])
    if bound is None:
        return None
    sizes, columns = bound
    groups, why = padded.groups(sizes, columns, function.sizes, xp)
    loops = plan.step.loops.removesuffix(GROUPS)
    work = _Work(padded, function, sources, sizes, xp, single)
    for group in groups:
        work.compute(group)
    made = assembled(len(columns), work.parts, which(plan.levels), work.home)
    if made is not None:
        why = why or work.why
        plan.step.loops = f"{loops}{GROUPS}, because of {why}" if why else ""
    return made


def _is_flat(tensor: Row) -> bool:
    return not isinstance(tensor, Ragged) or not isinstance(tensor.stored, Ragged)


@dataclass(slots=True)
class _Work:
    """What has been computed of the rows: `parts` are numbers of rows, a stack of their results on
    the host, and the true sizes of these.
    """

    padded: RowFunction
    function: Lifted
    tensors: Sequence[Source]
    sizes: Sizes
    xp: Any
    single: bool
    parts: list[tuple[Numbers, Value, Any]] = field(default_factory=list)
    home: Any = numpy
    why: str = ""

    def compute(self, group: Together) -> None:
        """A group, in parts where it would take too much memory."""
        if group.version is None:
            self._exactly(group.members)
            return
        shapes, most = self.padded.shapes(group.sizes), group.version.most
        key, todo = tuple(shapes), [group.members]
        while todo:
            members = todo.pop()
            fit = most.get(key, len(members))
            if not fit:
                self._exactly(members)
            elif len(members) > fit:
                todo += [members[fit:], members[:fit]]
            else:
                try:
                    self._padded(group.version, shapes, members)
                except Exception as problem:
                    if not is_expected(problem, self.xp):
                        raise
                    large = isinstance(problem, TooLarge | Refused)
                    most[key] = len(members) // 2 if large else 0
                    todo.append(members)
                    if large and not most[key]:
                        self.why = "a row that is padded takes too much memory"
                    elif not large:
                        self.why = f"what is padded is an error ({type(problem).__name__})"

    def _padded(
        self, version: Version, shapes: Sequence[tuple[int, ...]], members: Numbers
    ) -> None:
        filled = _filled(members, max(map(prod, shapes)))
        true = self.padded.true_sizes(version, self.sizes, filled)
        made = version.run(*self.function.values, *self._stacks(filled, shapes), true)
        self._keep(members, made, self.padded.result_sizes(self.sizes, members))

    def _exactly(self, members: Numbers) -> None:
        """Rows of equal sizes together."""
        shapes = [self.padded.true_shapes(i, self.sizes, members) for i in range(len(self.tensors))]
        each, where = numpy.unique(numpy.concatenate(shapes, axis=1), axis=0, return_inverse=True)
        for number in range(len(each)):
            chosen = numpy.flatnonzero(where.reshape(-1) == number)
            mine = [tuple(shape[chosen[0]].tolist()) for shape in shapes]
            self._alike(members[chosen], mine)

    def _alike(self, members: Numbers, shapes: Sequence[tuple[int, ...]]) -> None:
        most = self.xp.at_once() if len(members) > 1 else None
        run = self.padded.exact(self.function.sizes, self.xp, most)
        filled = _filled(members, max(map(prod, shapes)))
        try:
            made = run(*self.function.values, *self._stacks(filled, shapes))
        except TooLarge:
            middle = len(members) // 2
            self._alike(members[:middle], shapes)
            self._alike(members[middle:], shapes)
        else:
            self._keep(members, made, _sizes_of(made, len(members)))

    def _stacks(self, members: Numbers, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
        pairs = zip(self.tensors, shapes, strict=True)
        return [source.stack(members, shape, FILL) for source, shape in pairs]

    def _keep(self, members: Numbers, made: Value, sizes: Any) -> None:
        self.home = _home(made)
        if self.single:
            made, sizes = _inner(made, 0), _inner(sizes, slice(1, None))
        self.parts.append((members, _hosted(made), sizes))


def _filled(members: Numbers, elements: int) -> Numbers:
    """As many as a power of two, the last ones more than once."""
    least = min(FEW, max(1, ROOM // max(1, elements)))
    count = max(least, 1 << (len(members) - 1).bit_length())
    return numpy.concatenate([members, members[-1:].repeat(count - len(members))])


def _inner(value: Any, index: Any) -> Any:
    """Without the batch of one that each row is."""
    if isinstance(value, tuple | list):
        return tuple([_inner(part, index) for part in value])
    return value[:, index]


def _hosted(made: Value) -> Value:
    return tuple(map(_hosted, made)) if isinstance(made, tuple) else host(made)


def _home(made: Value) -> Any:
    while isinstance(made, tuple):
        if not made:
            return numpy
        made = made[0]
    return namespace(made)


def _sizes_of(made: Value, count: int) -> Any:
    if isinstance(made, tuple):
        return [_sizes_of(part, count) for part in made]
    return numpy.tile(numpy.array(made.shape[1:], numpy.int64), (count, 1))
