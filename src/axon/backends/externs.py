"""Results of a caller's own operators are checked before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from axon.backends.checks import Sizes, holds
from axon.backends.ragged import Ragged, split
from axon.backends.ragged_forms import arranged
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
            raise WrongResult(declared.name, f"should return a tuple of {len(type_.items)}")
        parts = zip(result, type_.items, strict=True)
        return tuple(_fits(declared, xp, part, item, sizes) for part, item in parts)
    assert isinstance(type_, Tensor)
    if any(isinstance(dim, DimVar) and dim.over for dim in type_.shape):
        return _fits_by_row(declared, xp, result, type_, sizes)
    if not hasattr(result, "dtype") or not hasattr(result, "shape"):
        try:
            result = xp.asarray(result)
        except (TypeError, ValueError, RuntimeError):
            raise WrongResult(
                declared.name, f"returns a {type(result).__name__}, not an array"
            ) from None
    wanted = xp.element(str(type_.elem))
    if result.dtype != wanted and type(result).__module__ == "numpy":
        result = xp.asarray(result)  # a weight, which is read as NumPy has it
    if result.dtype != wanted:
        raise WrongResult(declared.name, f"returns {result.dtype}, and {type_.elem} is declared")
    if holds(ShapeEq(type_.shape, tuple(result.shape)), sizes) is False:
        raise _other_shape(declared, type_, list(result.shape))
    return result


def _fits_by_row(declared: Declared, xp: Arrays, result: Any, type_: Tensor, sizes: Sizes) -> Any:
    """The same for a tensor with sizes that vary; the rows of an array are rows of equal sizes."""
    if not isinstance(result, Ragged):
        if len(getattr(result, "shape", ())) < 2:
            raise WrongResult(declared.name, "should return a Ragged")
        result = split(result)
    if result.dtype != xp.element(str(type_.elem)):
        raise WrongResult(declared.name, f"returns {result.dtype}, and {type_.elem} is declared")
    known = [isinstance(dim, DimVar) and dim.over for dim in type_.shape]
    if len(known) == result.rank:
        result = arranged(result, tuple(map(bool, known[1:])))
    found = ["*" if size is None else size for size in result.shape]
    pairs = list(zip(type_.shape, result.shape, known, strict=False))
    even = [(dim, size) for dim, size, varies in pairs if not varies and size is not None]
    if len(known) != result.rank or len(even) + sum(map(bool, known)) != result.rank:
        raise _other_shape(declared, type_, found)
    wanted = ShapeEq(tuple(dim for dim, _ in even), tuple(size for _, size in even))
    if holds(wanted, sizes) is False:
        raise _other_shape(declared, type_, found)
    return result


def _other_shape(declared: Declared, type_: Tensor, found: Sequence[object]) -> WrongResult:
    given = f"[{', '.join(map(str, found))}]"
    shape = Show().shape(type_.shape)
    return WrongResult(declared.name, f"returns shape {given}, which is not the declared {shape}")
