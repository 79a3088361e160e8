"""Padded tensors: arrays that are longer along some axes than the tensors that they stand for. The
true elements come first; behind them stands anything, or what a mask has put there.

Here is what a program on padded tensors needs besides the operators of the language: masks, and
the true sizes as numbers. `graph/padding` puts them where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from axon.ops.arrays import Array, Arrays, Meaning, Value, is_integer
from axon.ops.operator import Operator, Rule
from axon.ops.traits import Fill

Number = Any
"""A size: an `int`, or a scalar where it is known only when the compiled program runs."""

Place = tuple[int, int | str]
"""An operand by its place, -1 for the result, and one of its axes, 0 if it is a size itself; or -2,
and an attribute.
"""


class TrueSizes:
    """The true sizes of padded operands, and of the result where it is padded."""

    def __init__(self, operands: Sequence[Any], known: dict[Place, Number]) -> None:
        self.operands = operands
        self.known = known

    def of(self, operand: int) -> tuple[Number, ...]:
        """The sizes of an operand, one for each axis."""
        shape = self.operands[operand].shape
        return tuple([self.known.get((operand, axis), size) for axis, size in enumerate(shape)])

    def result(self, axis: int, size: int) -> Number:
        """The true size of the result along an axis that has this size in the array."""
        return self.known.get((-1, axis), size)

    def size(self, operand: int) -> Number:
        """What an operand that is a size truly is."""
        return self.known.get((operand, 0), self.operands[operand])

    def attribute(self, name: str, value: Number) -> Number:
        """What an attribute truly is that has this value where all is padded."""
        return self.known.get((-2, name), value)

    def inside(self, xp: Arrays, shape: Sequence[int]) -> Array | None:
        """Where the true elements of the result are; None where nothing is padded."""
        axes = self.padded(-1)
        if not axes:
            return None
        return mask(xp, shape, axes, [self.known[-1, axis] for axis in axes])

    def padded(self, operand: int) -> list[int]:
        """The axes along which an operand is padded, or the result."""
        return [axis for place, axis in self.known if place == operand and isinstance(axis, int)]

    def count(self, xp: Arrays, operand: int, axes: Sequence[int], dtype: Any) -> Number:
        """How many true elements there are along some axes, as a number to divide by."""
        sizes = self.of(operand)
        if all(isinstance(sizes[axis], int) for axis in axes):
            return prod(sizes[axis] for axis in axes)
        total = xp.asarray(1, dtype=dtype)
        for axis in axes:
            total = total * xp.astype(xp.asarray(sizes[axis]), dtype)
        return total

    def mask(self, xp: Arrays, operand: int, axes: Sequence[int]) -> Array | None:
        """Where the true elements are along some axes; None where nothing is padded."""
        x = self.operands[operand]
        among = [axis for axis in axes if (operand, axis) in self.known]
        if not among:
            return None
        return mask(xp, x.shape, among, [self.known[operand, axis] for axis in among])


def mask(xp: Arrays, shape: Sequence[int], axes: Sequence[int], true: Sequence[Number]) -> Array:
    """Where the true elements of an array are, of a shape that broadcasts to its own."""
    found: Array = None
    for axis, size in zip(axes, true, strict=True):
        behind = len(shape) - 1 - axis if axis >= 0 else -1 - axis
        places = xp.arange(shape[axis], dtype=xp.element("i64"))
        here = xp.reshape(places, (-1, *(1,) * behind)) < size
        found = here if found is None else found & here
    return found


def standing(xp: Arrays, dtype: Any, fill: Fill) -> Array:
    """An element that is put behind the true ones."""
    number: Any = {"zero": 0, "one": 1, "true": True, "false": False}.get(fill)
    if number is None:
        low = fill == "lowest"
        if xp.kind(dtype) == "b":
            number = not low
        elif is_integer(xp, xp.zeros((), dtype=dtype)):
            number = xp.iinfo(dtype).min if low else xp.iinfo(dtype).max
        else:
            number = float("-inf" if low else "inf")
    return xp.asarray(number, dtype=dtype)


# --- masks -----------------------------------------------------------------------------------


def _internal(name: str) -> Callable[[Meaning], Operator]:
    """An operator that no program can write."""

    def rule() -> Rule:
        return ""

    rule.__name__ = name

    def made(meaning: Meaning) -> Operator:
        return Operator(name, rule, meaning.__doc__ or "", "padding", meaning=meaning)

    return made


@_internal("filled")
def FILLED(xp: Arrays, x: Array, *true: Number, axes: tuple[int, ...], fill: Fill) -> Array:  # noqa: N802
    """The array with something known behind the true elements."""
    return xp.where(mask(xp, x.shape, axes, true), x, standing(xp, x.dtype, fill))


@_internal("kept")
def KEPT(xp: Arrays, x: Array, *true: Number, axes: tuple[int, ...]) -> Array:  # noqa: N802
    """The array as it is; what is derived with respect to its padding is zero."""
    return xp.where(mask(xp, x.shape, axes, true), x, xp.stop_gradient(x))


@_internal("kept_if")
def KEPT_IF(xp: Arrays, x: Array, place: Array, true: Number) -> Array:  # noqa: N802
    """The array as it is; the derivative is zero if this place is not a true one."""
    return xp.where(place < true, x, xp.stop_gradient(x))


@_internal("updated_if")
def UPDATED_IF(xp: Arrays, new: Array, old: Array, place: Array, true: Number) -> Array:  # noqa: N802
    """The new array if this place is a true one, else the old one."""
    return xp.where(place < true, new, old)


@_internal("spread")
def SPREAD(xp: Arrays, x: Array, *rest: Array, axes: tuple[int, ...]) -> Array:  # noqa: N802
    """The array repeated along padded axes that it does not have, counted from the end: those of
    some other arrays, one for each. Only its true copies have a derivative.
    """
    like, true = rest[: len(axes)], rest[len(axes) :]
    shape = [1] * (max(-axis for axis in axes) - x.ndim) + list(x.shape)
    for axis, other in zip(axes, like, strict=True):
        shape[axis] = other.shape[axis]
    y = xp.broadcast_to(x, tuple(shape))
    return xp.where(mask(xp, y.shape, axes, true), y, xp.stop_gradient(y))


@_internal("poisoned")
def POISONED(  # noqa: N802
    xp: Arrays, x: Array, *true: Number, axes: tuple[int, ...], poison: float
) -> Array:
    """The array with a number that does harm in its padding, and in that of its derivative: NaN, or
    a large one. Integers are the largest for NaN, else the least.
    """
    seen, kind = mask(xp, x.shape, axes, true), xp.kind(x.dtype)
    if kind == "b":
        return x ^ xp.broadcast_to(~seen, x.shape)
    if kind in "iu":
        limits = xp.iinfo(x.dtype)
        harm = limits.max if poison != poison else limits.min
        return xp.where(seen, x, xp.asarray(harm, dtype=x.dtype))
    harm = xp.asarray(poison, dtype=x.dtype)
    scaled = x * xp.where(seen, xp.asarray(1, dtype=x.dtype), harm)
    return xp.where(seen, scaled, scaled + harm)


# --- sizes as numbers ------------------------------------------------------------------------


@_internal("true_size")
def TRUE_SIZE(xp: Arrays, sizes: Array, number: int) -> Array:  # noqa: N802
    """One of the true sizes."""
    return sizes[number]


@_internal("computed_size")
def COMPUTED_SIZE(xp: Arrays, *parts: Number, sign: str) -> Array:  # noqa: N802
    """A size that is computed from others."""
    first, *others = [xp.asarray(part, dtype=xp.element("i64")) for part in parts]
    for other in others:
        match sign:
            case "+":
                first = first + other
            case "*":
                first = first * other
            case "/":
                first = xp.floor_divide(first, other)
            case "least":
                first = xp.minimum(first, other)
            case _:
                first = xp.maximum(first, other)
    return first


@_internal("size_number")
def SIZE_NUMBER(xp: Arrays, *sizes: Number, elem: str, vector: bool) -> Array:  # noqa: N802
    """Sizes as elements of a tensor."""
    parts = [xp.astype(xp.asarray(size), xp.element(elem)) for size in sizes]
    return xp.stack(parts) if vector else parts[0]


@_internal("place_numbers")
def PLACE_NUMBERS(xp: Arrays, like: Array) -> Array:  # noqa: N802
    """The places of the rows of an array."""
    return xp.arange(like.shape[0], dtype=xp.element("i64"))


# --- other orders ----------------------------------------------------------------------------


@_internal("refitted")
def REFITTED(  # noqa: N802
    xp: Arrays, x: Array, *rest: Any, given: tuple[int, ...], made: tuple[int, ...]
) -> Array:
    """The true elements in their order under another shape: the last operand. Each place of the
    result looks for its element. `given` are the padded axes of the operand, and `made` those of
    the result.
    """
    *true, shape = rest
    sizes = _with(x.shape, given, true[: len(given)])
    wanted = _with(shape, made, true[len(given) :])
    i64 = xp.element("i64")
    number, stride = numbered(xp, shape, wanted), 1
    index = xp.zeros(shape, dtype=i64)
    for size, real in zip(reversed(sizes), reversed(x.shape), strict=True):
        some = xp.maximum(xp.asarray(size, dtype=i64), 1)
        index = index + number % some * stride
        number, stride = xp.floor_divide(number, some), stride * real
    flat = xp.reshape(x, (prod(x.shape),))
    last = max(flat.shape[0] - 1, 0)
    return xp.take(flat, xp.clip(index, 0, last), axis=0)


def numbered(xp: Arrays, shape: Sequence[int], sizes: Sequence[Number]) -> Array:
    """The numbers of the places of a padded array in the flat tensor of the true elements."""
    i64 = xp.element("i64")
    number = xp.zeros((1,) * len(shape), dtype=i64)
    for axis, size in enumerate(sizes):
        place = xp.arange(shape[axis], dtype=i64)
        number = number * size + xp.reshape(place, (-1, *(1,) * (len(shape) - 1 - axis)))
    return xp.broadcast_to(number, tuple(shape))


def _with(shape: Sequence[int], axes: Sequence[int], true: Sequence[Number]) -> list[Number]:
    found: list[Number] = list(shape)
    for axis, size in zip(axes, true, strict=True):
        found[axis] = size
    return found


def taken(xp: Arrays, x: Array, axis: int, places: Array) -> Array:
    """The rows at some places, which are brought in where they lie outside."""
    return xp.take(x, xp.clip(places, 0, max(x.shape[axis] - 1, 0)), axis=axis)


_REWRITTEN: dict[Operator, Operator] = {}


def rewritten(operator: Operator) -> Operator:
    """An operator by its meaning for padded operands. Behind the operands stand the true sizes at
    `places`.
    """
    known = _REWRITTEN.get(operator)
    if known is None:
        meaning = operator.padded_meaning
        assert meaning is not None

        def padded(xp: Arrays, *args: Any, places: tuple[Place, ...], **attributes: Any) -> Value:
            count = len(args) - len(places)
            known = dict(zip(places, args[count:], strict=True))
            return meaning(xp, TrueSizes(args[:count], known), *args[:count], **attributes)

        known = _REWRITTEN[operator] = Operator(
            f"{operator.name} of true sizes",
            operator.rule,
            operator.doc,
            "padding",
            meaning=padded,
        )
    return known
