"""Computing with contents: arrays of numbers and dimensions, some of them not known."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy

from axon.importers.contents import reals as floats
from axon.importers.contents.reals import Real
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.quotient import exact_quotient
from axon.types.variables import DimVar

SYMBOLS = (DimVar, Poly)
MOST = 4096


def is_symbol(x: object) -> bool:
    return isinstance(x, SYMBOLS)


def pointwise(function: Callable[..., Any], *parts: Any) -> Any:
    """A function of elements that are known; where one is not, nor is the result. None if there
    are too many of them.
    """
    if not fit(*parts):
        return None
    if len({part.shape for part in parts}) > 1:
        parts = tuple(numpy.broadcast_arrays(*parts))
    made: list[Any] = []
    for items in zip(*(part.ravel().tolist() for part in parts), strict=True):
        unknown = any(item is None for item in items)
        made.append(None if unknown else function(*items))
    result = numpy.empty(len(made), dtype=object)
    result[:] = made
    return result.reshape(parts[0].shape)


def fit(*parts: Any) -> bool:
    """Whether arrays broadcast to one that is small enough to be looked at."""
    shapes = {part.shape for part in parts}
    if len(shapes) == 1:
        return bool(math.prod(shapes.pop()) <= MOST)
    try:
        return bool(math.prod(numpy.broadcast_shapes(*shapes)) <= MOST)
    except ValueError:
        return False


def whole(x: Any) -> Any:
    """A number as an integer, as a cast makes it; a size is one."""
    if isinstance(x, float):
        return int(x) if numpy.isfinite(x) else None
    return int(x) if isinstance(x, bool) else x


def is_real(a: object, b: object = None) -> bool:
    """Whether one of them is a size that was computed in floating point."""
    return isinstance(a, Real) or isinstance(b, Real)


RANGES = {
    kind + str(bits): (0, 1 << bits) if kind == "u" else (-1 << bits - 1, 1 << bits - 1)
    for kind in "iu"
    for bits in (8, 16, 32, 64)
}
"""What integers of a type are not below, and what they are below."""
NARROW = ("i8", "i16", "u8", "u16")


def within(elem: object, x: Any) -> Any:
    """An integer that a type has; others go round. A size is in a wide type, if it is one."""
    if is_symbol(x):
        signed = str(elem).startswith("i")
        return x if elem not in NARROW and (signed or dims.is_nonnegative(x)) else None
    if isinstance(x, bool) or not isinstance(x, int) or elem not in RANGES:
        return x
    low, high = RANGES[str(elem)]
    return x if low <= x < high else None


def of_sizes(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A function of sizes; next to a fraction one is not known."""
    return None if isinstance(a, float) or isinstance(b, float) else function(a, b)


def add(a: Any, b: Any) -> Any:
    if is_real(a, b):
        return floats.add(a, b)
    return of_sizes(dims.add, a, b) if is_symbol(a) or is_symbol(b) else a + b


def sub(a: Any, b: Any) -> Any:
    if is_real(a, b):
        return floats.sub(a, b)
    return of_sizes(dims.sub, a, b) if is_symbol(a) or is_symbol(b) else a - b


def mul(a: Any, b: Any) -> Any:
    if is_real(a, b):
        return floats.mul(a, b)
    return of_sizes(dims.mul, a, b) if is_symbol(a) or is_symbol(b) else a * b


def div(a: Any, b: Any, is_size: Callable[[Dim], bool] = dims.is_nonnegative) -> Any:
    """A quotient; of integers it is rounded towards zero, as ONNX does, by a divisor above zero.

    `is_size` tells which dividends are known not to be negative.
    """
    if is_real(a, b):
        return None
    if is_symbol(a) or is_symbol(b):
        if isinstance(a, float) or isinstance(b, float):
            return None
        if b == 0 or (isinstance(b, int) and b < 0):
            return None
        whole = exact_quotient(a, b) if is_symbol(b) else None  # by 0 nothing is divided
        return towards_zero(a, b, is_size) if whole is None else whole
    if isinstance(a, float) or isinstance(b, float):
        return None if b == 0 else a / b
    if b == 0:
        return None
    return int(Fraction(a, b))


def exact(a: Any, b: Any) -> Any:
    """A quotient by what may be negative, where nothing is left over."""
    if is_real(a, b) or isinstance(a, float) or isinstance(b, float):
        return None
    return exact_quotient(a, b) if is_symbol(b) else div(a, b)


def nothing(a: Any, b: Any) -> Any:
    """What is not followed."""
    return None


def towards_zero(a: Dim, b: Dim, is_size: Callable[[Dim], bool]) -> Dim:
    """Down where the dividend is above zero, and up where it is below."""
    if is_size(a):
        return dims.floordiv(a, b)
    below = dims.scale(-1, a)
    if dims.is_nonnegative(dims.sub(dims.sub(b, 1), below)):  # rounded down it is -1 at the least
        return dims.maximum(dims.floordiv(a, b), 0)
    if dims.is_nonnegative(below):
        return dims.scale(-1, dims.floordiv(below, b))
    above = dims.floordiv(dims.maximum(a, 0), b)
    return dims.sub(above, dims.floordiv(dims.maximum(below, 0), b))


def ratio(a: Any, b: Any) -> Any:
    """A quotient of floats, which is not rounded."""
    if is_real(a, b):
        return floats.ratio(a, b)
    return None if is_symbol(a) or is_symbol(b) or b == 0 else a / b


def rounded(x: Any) -> Any:
    """A float as f32 has it; it may be too large for that."""
    if not isinstance(x, float):
        return x
    with numpy.errstate(over="ignore"):
        return float(numpy.float32(x))


def mod(a: Any, b: Any) -> Any:
    if b == 0 or isinstance(a, float | Real) or isinstance(b, float | Real):
        return None
    return dims.mod(a, b) if is_symbol(a) or is_symbol(b) else a % b


def floor(a: Any) -> Any:
    """A float rounded down."""
    return floats.floor(a) if is_real(a) else _integral(numpy.floor, a)


def ceil(a: Any) -> Any:
    """A float rounded up."""
    return floats.ceil(a) if is_real(a) else _integral(numpy.ceil, a)


def power(a: Any, b: Any) -> Any:
    """A power of a number where it is exact, so that all who compute it agree."""
    if isinstance(a, bool) or not isinstance(a, int | float) or not isinstance(b, int | float):
        return None
    if b == 0.5 and isinstance(a, float) and a.is_integer() and 0 <= a < 1 << 24:
        found = math.isqrt(int(a))
        return float(found) if found * found == a else None
    if not float(b).is_integer() or not 0 <= b <= 16 or not math.isfinite(a):
        return None
    exact = Fraction(a) ** int(b)
    if exact.numerator.bit_length() > 24 or exact.denominator.bit_length() > 24:
        return None
    return float(exact) if isinstance(a, float) else int(exact)


def root(a: Any) -> Any:
    """The square root of a number; the type that it has rounds it once more."""
    return math.sqrt(a) if isinstance(a, float) and a >= 0 else None


def _integral(function: Callable[[float], Any], a: Any) -> Any:
    return float(function(a)) if isinstance(a, float) else None


def negate(a: Any) -> Any:
    if is_real(a):
        return floats.negate(a)
    return dims.scale(-1, a) if is_symbol(a) else -a


def least(a: Any, b: Any) -> Any:
    if is_real(a, b):
        return floats.least(a, b)
    return of_sizes(dims.minimum, a, b) if is_symbol(a) or is_symbol(b) else min(a, b)


def greatest(a: Any, b: Any) -> Any:
    if is_real(a, b):
        return floats.greatest(a, b)
    return of_sizes(dims.maximum, a, b) if is_symbol(a) or is_symbol(b) else max(a, b)


def equal(a: Any, b: Any) -> Any:
    """True, False, or None where it depends on the sizes."""
    if is_real(a, b):
        return None
    if not is_symbol(a) and not is_symbol(b):
        return bool(a == b)
    if isinstance(a, float | bool) or isinstance(b, float | bool):
        return None
    gap = dims.sub(a, b)
    if gap == 0:
        return True
    apart = dims.is_nonnegative(dims.sub(gap, 1)) or dims.is_nonnegative(dims.sub(-1, gap))
    return False if apart else None


def less(a: Any, b: Any) -> Any:
    if is_real(a, b):
        return None
    if not is_symbol(a) and not is_symbol(b):
        return bool(a < b)
    if isinstance(a, float) or isinstance(b, float):
        return None
    if dims.is_nonnegative(dims.sub(dims.sub(b, a), 1)):
        return True
    return False if dims.is_nonnegative(dims.sub(a, b)) else None


def both(a: Any, b: Any) -> Any:
    """Whether both are true."""
    return None if is_symbol(a) or is_symbol(b) or is_real(a, b) else bool(a) and bool(b)


def opposite(a: Any) -> Any:
    """Whether it is not true."""
    return None if is_symbol(a) or is_real(a) else not a


def choose(condition: Any, a: Any, b: Any) -> Any:
    if condition is None:
        return a if same(a, b) else None
    return a if condition else b


def same(a: Any, b: Any) -> bool:
    return a is not None and b is not None and equal(a, b) is True
