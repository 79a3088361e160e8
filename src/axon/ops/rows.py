"""The batch dimensions of an operator, read off its signature.

An operator is applied to a ragged tensor row by row. That is right if the dimensions that a size
varies over are a batch in the operator's signature: the result begins with the same ones, and
nothing is computed along them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from axon.ops.operator import Operator, Problem
from axon.ops.scheme import scheme_of
from axon.ops.traits import RowRule
from axon.types import dim as dims
from axon.types.type import DimValue, Fn, Shape, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar

FILLER = re.compile(r"d\d+")
"""What a signature calls a dimension before the axis that it works along (see `ops/axes.py`)."""


@dataclass(frozen=True, slots=True)
class Label:
    """A dimension as named in a signature. `names` are the variables in it. The operator does not
    compute along a `free` one, whatever follows it, and does along one that is `along`; one that is
    `after` must not vary.
    """

    key: Hashable
    names: tuple[Hashable, ...]
    free: bool
    after: bool
    along: bool = False


Word = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The dimensions of each operand and of each result tensor, None where they have none. `sizes`
    are the names of the operands that are sizes, by their places.
    """

    operands: tuple[Word | None, ...]
    results: tuple[Word | None, ...]
    sizes: Mapping[int, str]

    def batch(self, index: int) -> int:
        """How many dimensions of an operand are a batch. The first one may have any name."""
        word = self.operands[index]
        if word is None or not self.results:
            return 0
        count = len(word)
        for result in self.results:
            same = 0
            for mine, other in zip(word, result or (), strict=False):
                if mine.key != other.key or mine.along or not (same == 0 or mine.free):
                    break
                same += 1
            count = min(count, same)
        return count


def pointwise(operator: Operator, arity: int) -> bool:
    """Whether the operator is elementwise; one that is a reduction too reduces one tensor."""
    traits = operator.traits
    return traits.pointwise and (arity > 1 or traits.rows is not RowRule.REDUCTION)


def core(operator: Operator, arity: int) -> int | None:
    """How many dimensions at the end do not broadcast; None if the operator does not at all."""
    return 0 if pointwise(operator, arity) else operator.traits.core


def rows_of(operator: Operator, type_: Fn, written: Type) -> Rows:
    """The dimensions of an operator's operands and results, as its signature names them: `type_` is
    its type here, `written` the same before substitution.
    """
    if written is type_:
        written = _signature(operator, type_)
    assert isinstance(written, Fn)
    pairs = list(zip(written.params, type_.params, strict=True))
    results = list(_tensors(written.result, type_.result))
    lengths = _lengths([*pairs, *results])
    return Rows(
        tuple(_word(w, known, lengths) for w, known in pairs),
        tuple(_word(w, known, lengths) for w, known in results),
        {
            place: w.dim.name if isinstance(w, DimValue) and isinstance(w.dim, DimVar) else ""
            for place, (w, known) in enumerate(pairs)
            if isinstance(known, DimValue)
        },
    )


def _signature(operator: Operator, type_: Fn) -> Type:
    """The signature of an operator used as a function; its type here if attributes are required."""
    found = scheme_of(operator, len(type_.params), dict(operator.defaults))
    if isinstance(found, Problem) or not isinstance(found.type, Fn):
        return type_
    return found.type if len(found.type.params) == len(type_.params) else type_


def _tensors(written: Type, known: Type) -> Iterator[tuple[Type, Type]]:
    if isinstance(known, Tuple):
        parts = written.items if isinstance(written, Tuple) else [written] * len(known.items)
        for part, item in zip(parts, known.items, strict=True):
            yield from _tensors(part, item)
    else:
        yield written, known


def _shape(type_: Type) -> Shape | None:
    return type_.shape if isinstance(type_, Tensor | ShapeValue) else None


def _lengths(pairs: Sequence[tuple[Type, Type]]) -> dict[ShapeVar, int]:
    """The ranks of the shapes in a signature, from those of its arguments."""
    found: dict[ShapeVar, int] = {}
    before = -1
    while len(found) > before:
        before = len(found)
        for written, known in pairs:
            word, shape = _shape(written), _shape(known)
            if word is None or shape is None:
                continue
            if any(isinstance(item, ShapeVar) for item in shape):
                continue
            unknown = {i for i in word if isinstance(i, ShapeVar) and i not in found}
            if len(unknown) == 1:
                var = unknown.pop()
                rest = sum(found[i] if isinstance(i, ShapeVar) else 1 for i in word if i is not var)
                found[var] = (len(shape) - rest) // sum(i is var for i in word)
    return found


def _names(var: DimVar | ShapeVar, lengths: dict[ShapeVar, int]) -> list[Hashable]:
    """The dimensions that a variable stands for."""
    if isinstance(var, DimVar):
        return [var]
    return [(var, i) for i in range(lengths.get(var, 0))]


def _word(written: Type, known: Type, lengths: dict[ShapeVar, int]) -> Word | None:
    """The labels of a tensor's dimensions, or of those of a shape."""
    word, shape = _shape(written), _shape(known)
    if word is None or shape is None or any(isinstance(item, ShapeVar) for item in shape):
        return None
    labels: list[Label] = []
    for item in word:
        if isinstance(item, ShapeVar):
            after = item.name.startswith("after")
            labels += [
                Label((item, i), ((item, i),), not after, after)
                for i in range(lengths.get(item, 0))
            ]
        else:
            mentioned = list(dims.variables(item))
            after = any(v.name.startswith("after") for v in mentioned)
            filler = isinstance(item, DimVar) and FILLER.fullmatch(item.name) is not None
            along = any(v.name.startswith("along") for v in mentioned)
            names = [name for v in mentioned for name in _names(v, lengths)]
            labels.append(Label(item, tuple(names), filler, after, along))
    return tuple(labels) if len(labels) == len(shape) else None
