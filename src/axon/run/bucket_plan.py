"""What is done for a call in buckets: the shapes that arguments are brought to, those that results
are cut to, and what is counted of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

from axon.backends.sizes import Undetermined
from axon.types import dim as dims
from axon.types.type import DimValue, Shape, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar


@dataclass(slots=True)
class Counts:
    """How often what happened; `true` and `whole` count the elements along dimensions."""

    calls: int = 0
    compilations: int = 0
    exact: int = 0
    true: int = 0
    whole: int = 0
    along: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Padding:
    """What a call has of padding: the elements of its arguments, and the sizes of dimensions by
    their names, each as they truly are, and as they become.
    """

    true: int
    whole: int
    along: tuple[tuple[str, int, int], ...]

    def count(self, counts: Counts) -> None:
        counts.true += self.true
        counts.whole += self.whole
        for name, true, whole in self.along:
            before = counts.along.get(name, (0, 0))
            counts.along[name] = (before[0] + true, before[1] + whole)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done for arguments of some sizes. `pads` and `cuts` have a shape for each array whose
    shape changes, a tuple for a structure, None for what stays as it is.
    """

    pads: list[Any]
    true: Any
    cuts: Any
    key: tuple[int, ...]
    padding: Padding


def _numbers(shape: Shape, sizes: dict[DimVar, int]) -> tuple[int, ...]:
    found = []
    for item in shape:
        size = None if isinstance(item, ShapeVar) else dims.evaluate(item, sizes)
        if size is None:
            raise Undetermined("of an argument")
        found.append(size)
    return tuple(found)


def elements(type_: Type, sizes: dict[DimVar, int]) -> int:
    match type_:
        case Tensor(_, shape):
            return prod(_numbers(shape, sizes))
        case Tuple(items):
            return sum(elements(item, sizes) for item in items)
        case _:
            return 0


class Shaped(tuple[int, ...]):
    """The shape that an array is brought to."""


def shapes(type_: Type, wanted: dict[DimVar, int], other: dict[DimVar, int]) -> Any:
    """The shapes that arrays are brought to; None where nothing changes. A size is a number."""
    match type_:
        case Tensor(_, shape):
            found = _numbers(shape, wanted)
            return None if found == _numbers(shape, other) else Shaped(found)
        case DimValue(dim):
            found = _numbers((dim,), wanted)
            return None if found == _numbers((dim,), other) else found[0]
        case Tuple(items):
            parts = tuple([shapes(item, wanted, other) for item in items])
            return None if all(part is None for part in parts) else parts
        case _:
            return None


def lengthened(lengthen: Callable[..., Any], arg: Any, shape: Any, fill: float) -> Any:
    if isinstance(shape, Shaped):
        return lengthen(arg, shape, fill)
    if isinstance(shape, tuple):
        return tuple(
            a if s is None else lengthened(lengthen, a, s, fill)
            for a, s in zip(arg, shape, strict=True)
        )
    return shape


def cut_out(cut: Callable[..., Any], result: Any, shape: Any) -> Any:
    if isinstance(shape, Shaped):
        return cut(result, shape)
    if isinstance(shape, tuple):
        return tuple(
            r if s is None else cut_out(cut, r, s) for r, s in zip(result, shape, strict=True)
        )
    return result
