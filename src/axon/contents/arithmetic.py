"""Computing with the elements of contents: numbers, dimensions, sizes in floating point."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from axon.contents import reals as floats
from axon.contents.reals import Real
from axon.contents.singles import single
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.quotient import exact_quotient
from axon.types.variables import DimVar

Binary = Callable[[Any, Any], Any]
SYMBOLS = (DimVar, Poly)
FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
EXACT_UP_TO = {"f16": 1 << 11, "bf16": 1 << 8}
"""Up to where a type of few bits has all the integers."""


def is_symbol(x: object) -> bool:
    return isinstance(x, SYMBOLS)


def as_integer(x: Any) -> Any:
    """A number as an integer, as a cast makes it; a size is one."""
    if isinstance(x, float):
        return int(x) if math.isfinite(x) else None
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
MOST_FACTORS = 4
"""Of a size, in a power that is followed."""


def settled(elem: str, x: Any) -> Any:
    """What a type makes of a number: a float is rounded, and an integer must be one of the type,
    since others go round. A size is in a wide type, if it is one.
    """
    if isinstance(x, float):
        return rounded(elem, x)
    if elem in FLOATS and not isinstance(x, Real) and x is not None:
        return floats.as_float(x, elem) if is_symbol(x) else rounded(elem, float(x))
    if is_symbol(x):
        if elem in NARROW or (elem.startswith("u") and not dims.is_nonnegative(x)):
            return None
        return x
    if isinstance(x, bool) or not isinstance(x, int) or elem not in RANGES:
        return x
    low, high = RANGES[elem]
    return x if low <= x < high else None


def rounded(elem: str, x: float) -> float | None:
    """A float as its type has it; a number without a type is as it is written."""
    if elem in ("f64", ""):
        return x
    if elem == "f32":
        return single(x)
    return x if x.is_integer() and abs(x) <= EXACT_UP_TO.get(elem, 0) else None


def _by_kind(of_reals: Binary, of_sizes: Binary, of_numbers: Binary) -> Binary:
    """A function of two elements. Of a size and a float, or one grown out of hand, nothing is
    known.
    """

    def function(a: Any, b: Any) -> Any:
        if is_real(a, b):
            return of_reals(a, b)
        if is_symbol(a) or is_symbol(b):
            if isinstance(a, float) or isinstance(b, float):
                return None
            found = of_sizes(a, b)
            return None if dims.is_vast(found) else found
        return of_numbers(a, b)

    return function


def _of_ordered(function: Binary) -> Binary:
    """A function of numbers; of NaN nothing is known."""
    return lambda a, b: function(a, b) if a == a and b == b else None


add = _by_kind(floats.add, dims.add, operator.add)
sub = _by_kind(floats.sub, dims.sub, operator.sub)
mul = _by_kind(floats.mul, dims.mul, operator.mul)
least = _by_kind(floats.least, dims.minimum, _of_ordered(min))
greatest = _by_kind(floats.greatest, dims.maximum, _of_ordered(max))


def truncated(a: Any, b: Any, is_size: Callable[[Dim], bool] = dims.is_nonnegative) -> Any:
    """A quotient of integers, rounded towards zero, by a divisor above zero.

    `is_size` is true for dividends that are known not to be negative.
    """
    if is_symbol(a) or is_symbol(b):
        if b == 0 or (isinstance(b, int) and b < 0):
            return None
        whole = exact_quotient(a, b) if is_symbol(b) else None  # by 0 nothing is divided
        return towards_zero(a, b, is_size) if whole is None else whole
    return None if b == 0 else int(Fraction(a, b))


def floored(a: Any, b: Any) -> Any:
    """A quotient of integers, rounded down, by a divisor above zero."""
    if b == 0 or (isinstance(b, int) and b < 0 and is_symbol(a)):
        return None
    if not is_symbol(a) and not is_symbol(b):
        return a // b
    whole = exact_quotient(a, b) if is_symbol(b) else None
    return dims.floordiv(a, b) if whole is None else whole


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


def mod(a: Any, b: Any) -> Any:
    if b == 0 or isinstance(a, float | Real) or isinstance(b, float | Real):
        return None
    return dims.mod(a, b) if is_symbol(a) or is_symbol(b) else a % b


def floor(a: Any) -> Any:
    """A float rounded down."""
    return floats.floor(a) if is_real(a) else _integral(math.floor, a)


def ceil(a: Any) -> Any:
    """A float rounded up."""
    return floats.ceil(a) if is_real(a) else _integral(math.ceil, a)


def power(a: Any, b: Any) -> Any:
    """A power of a number where it is exact, so that all who compute it agree; a small power of a
    size is a product.
    """
    if is_symbol(a) and type(b) is int and 0 <= b <= MOST_FACTORS:
        found: Any = 1
        for _ in range(b):
            found = mul(found, a)
        return found
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


def _integral(function: Callable[[float], int], a: Any) -> Any:
    if not isinstance(a, float):
        return None
    return math.copysign(float(function(a)), a) if math.isfinite(a) else a


def magnitude(a: Any) -> Any:
    """A number without its sign; a size has none."""
    if is_symbol(a):
        return a if dims.is_nonnegative(a) else None
    return None if is_real(a) else abs(a)


def sign(a: Any) -> Any:
    """1, 0 or -1, as a number of the same kind."""
    if is_symbol(a):
        return 1 if dims.is_nonnegative(dims.sub(a, 1)) else None
    if is_real(a) or a != a:
        return None
    return type(a)((a > 0) - (a < 0))


def negate(a: Any) -> Any:
    if is_real(a):
        return floats.negate(a)
    return dims.scale(-1, a) if is_symbol(a) else -a


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


def no_more(a: Any, b: Any) -> Any:
    """Whether the first is less than the second, or equal to it."""
    if a != a or b != b:
        return False
    return opposite(less(b, a))


def opposite(a: Any) -> Any:
    """Whether it is not true; None if that is not known."""
    return None if a is None else not a


def choose(condition: Any, a: Any, b: Any) -> Any:
    if condition is None:
        return a if same(a, b) else None
    return a if condition else b


def same(a: Any, b: Any) -> bool:
    return a is not None and b is not None and equal(a, b) is True
