"""Results of a caller's own operators are checked before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from axon.backends.checks import Sizes, holds
from axon.ops.arrays import Arrays
from axon.types.show import Show
from axon.types.type import ShapeEq, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A declared operator, the type of its result where it is used, and the variables in that whose
    sizes are known there.
    """

    name: str
    type: Type
    known: tuple[DimVar | ShapeVar, ...]


class WrongResult(Exception):
    """The result is not of the declared type."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        super().__init__(f"the function for `{name}` {text}")


def look_at(declared: Declared, xp: Arrays, result: Any, sizes: Sequence[Any]) -> Any:
    known: Sizes = dict(zip(declared.known, sizes, strict=True))
    return _fits(declared, xp, result, declared.type, known)


def _fits(declared: Declared, xp: Arrays, result: Any, type_: Type, sizes: Sizes) -> Any:
    if isinstance(type_, Tuple):
        if not isinstance(result, tuple) or len(result) != len(type_.items):
            raise WrongResult(declared.name, f"should give a tuple of {len(type_.items)}")
        parts = zip(result, type_.items, strict=True)
        return tuple(_fits(declared, xp, part, item, sizes) for part, item in parts)
    assert isinstance(type_, Tensor)
    if not hasattr(result, "dtype") or not hasattr(result, "shape"):
        try:
            result = xp.asarray(result)
        except (TypeError, ValueError):
            raise WrongResult(
                declared.name, f"gives a {type(result).__name__}, not an array"
            ) from None
    wanted = xp.element(str(type_.elem))
    if result.dtype != wanted:
        raise WrongResult(declared.name, f"gives {result.dtype}, and {type_.elem} is declared")
    if holds(ShapeEq(type_.shape, tuple(result.shape)), sizes) is False:
        shape = Show().shape(type_.shape)
        raise WrongResult(
            declared.name, f"gives shape {list(result.shape)}, which is not the declared {shape}"
        )
    return result
