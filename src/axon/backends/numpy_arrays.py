"""The array namespace on NumPy: the reference that every other backend agrees with.

Half-precision products are summed in f32 and rounded once, and integers wrap around, as on every
accelerator. `context` turns off NumPy's warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from axon.backends import failures
from axon.backends.bounded import Bounded
from axon.backends.numpy_attention import attention_of_rows
from axon.ops.arrays import Array, Arrays, Pairs, Value, wide
from axon.ops.memory import check_fits

LONG = {"bool": "bool", "i": "int", "u": "uint", "f": "float", "bf": "bfloat"}

COMBINE = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}

TOO_LARGE = ("array is too big", "Maximum allowed ")
"""How NumPy begins to say that an array cannot have a size; it raises `ValueError` for much."""

CHUNK = 1 << 24
"""About how many elements of unfolded windows a convolution holds at a time."""


class NumpyArrays(Bounded):
    library = np
    attention_of_rows = attention_of_rows

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        self.__dict__[name] = found  # cached as an attribute
        return found

    def failure(self, problem: Exception) -> str | None:
        return refusal(problem)

    def context(self) -> AbstractContextManager[object]:
        """The context of a run: division by zero and overflow return values, without warnings."""
        return np.errstate(all="ignore")

    def element(self, name: str) -> Any:
        return element(name)

    def matmul(self, x: Array, y: Array) -> Array:
        return np.matmul(wide(self, x), wide(self, y)).astype(x.dtype, copy=False)

    def einsum(self, equation: str, *parts: Array) -> Array:
        summed = np.einsum(equation, *(wide(self, part) for part in parts), optimize=len(parts) > 1)
        return summed.astype(parts[0].dtype, copy=False)

    def erf(self, x: Array) -> Array:
        return _erf(np.asarray(x, np.float64)).astype(x.dtype)

    def put(self, x: Array, index: tuple[Any, ...], values: Array, mode: str) -> Array:
        result = np.array(x)
        values = np.asarray(values, result.dtype)
        if mode == "set":
            result[index] = values
        else:
            COMBINE[mode].at(result, index, values)
        return result

    def conv(
        self,
        x: Array,
        filters: Array,
        *,
        stride: tuple[int, ...],
        pad: Pairs,
        dilation: tuple[int, ...],
        groups: int,
        spread: tuple[int, ...],
    ) -> Array:
        places = sliding(x, filters.shape[2:], stride, pad, dilation, spread)
        shape = (len(x), len(filters), *places)
        if 0 in (*shape, *filters.shape):
            return np.zeros(shape, x.dtype)
        grouped = wide(self, filters).reshape(groups, len(filters) // groups, -1)
        spaced = _pad(_spread(wide(self, x), spread), pad, 0)
        rows = [
            np.matmul(grouped, _unfold(part, filters.shape[2:], stride, dilation, groups, places))
            for part in _chunks(spaced, grouped.shape[2] * groups * prod(places))
        ]
        return np.concatenate(rows).reshape(shape).astype(x.dtype)

    def windows(
        self,
        kind: str,
        x: Array,
        *,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        pad: Pairs,
        dilation: tuple[int, ...],
    ) -> Array:
        ufunc, neutral = (np.maximum, lowest(x.dtype)) if kind == "max" else (np.add, 0)
        places = sliding(x, size, stride, pad, dilation)
        result = _pad(wide(self, x), pad, neutral)
        for i, count in enumerate(places):  # one axis after another, as max and sum allow
            axis = x.ndim - len(size) + i
            seen = result
            shape = (*seen.shape[:axis], count, *seen.shape[axis + 1 :])
            result = np.full(shape, neutral, seen.dtype)
            for first in range(0, size[i] * dilation[i] if count else 0, dilation[i]):
                view = slice(first, first + (count - 1) * stride[i] + 1, stride[i])
                ufunc(result, seen[(slice(None),) * axis + (view,)], out=result)
        return result.astype(x.dtype)

    def map(
        self,
        function: Callable[..., Value],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> Value:
        if len(rows[0]):
            return _stack([function(*each) for each in zip(*rows, strict=True)])
        return like() if like else _none(function(*_zeros(rows)))

    def loop(
        self,
        state: Value,
        function: Callable[..., tuple[Value, Value]],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> tuple[Value, Value]:
        if not len(rows[0]):
            return state, like() if like else _none(function(state, *_zeros(rows))[1])
        outputs = []
        for each in zip(*rows, strict=True):
            state, output = function(state, *each)
            outputs.append(output)
        return state, _stack(outputs)

    def cond(
        self, condition: Array, then: Callable[[], Value], otherwise: Callable[[], Value]
    ) -> Value:
        return then() if condition else otherwise()

    def iterate(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], Value],
    ) -> Value:
        while condition(state):
            state = function(state)
        return state

    def collect(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], tuple[Value, Value]],
    ) -> tuple[Value, Value]:
        outputs = []
        first = state
        while condition(state):
            state, output = function(state)
            outputs.append(output)
        return state, _stack(outputs) if outputs else _none(function(first)[1])


ARRAYS: Arrays = NumpyArrays()


# --- element types ---------------------------------------------------------------------------


def element(name: str) -> Any:
    """The dtype; that of `bf16` is in the package ml_dtypes."""
    if name == "bf16":
        try:
            import ml_dtypes  # noqa: F401 (it gives NumPy the name)
        except ImportError as error:
            raise ImportError("bf16 on NumPy needs the package ml_dtypes") from error
    kind = name.rstrip("0123456789")
    return np.dtype(LONG[kind] + name.removeprefix(kind))


def lowest(dtype: Any) -> Any:
    """A lower bound of all elements."""
    return np.iinfo(dtype).min if np.issubdtype(dtype, np.integer) else -np.inf


# --- windows ---------------------------------------------------------------------------------


def sliding(
    x: Array,
    window: Sequence[int],
    stride: Sequence[int],
    pad: Pairs,
    dilation: Sequence[int],
    spread: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The number of positions of a window along each of the last dimensions. The memory must
    suffice for the input with its dilation and padding.
    """
    rest, sizes = x.shape[: x.ndim - len(window)], x.shape[x.ndim - len(window) :]
    steps = spread or (1,) * len(sizes)
    seen = [
        max(0, (n - 1) * step + 1) + before + after
        for n, (before, after), step in zip(sizes, pad, steps, strict=True)
    ]
    check_fits((*rest, *(max(0, n) for n in seen)), x.dtype.itemsize)
    return tuple(
        max(0, (n - d * (k - 1) - 1) // s + 1)
        for n, k, s, d in zip(seen, window, stride, dilation, strict=True)
    )


def _spread(x: Array, steps: Sequence[int]) -> Array:
    """Zeros between the elements of the spatial dimensions."""
    if all(step == 1 for step in steps):
        return x
    sizes = (max(0, (n - 1) * step + 1) for n, step in zip(x.shape[2:], steps, strict=True))
    result: Array = np.zeros((*x.shape[:2], *sizes), x.dtype)
    result[(..., *(slice(None, None, step) for step in steps))] = x
    return result


def _pad(x: Array, pad: Pairs, value: Any) -> Array:
    """The value around the last dimensions; a negative pad cuts off."""
    around = [(0, 0)] * (x.ndim - len(pad)) + [(max(a, 0), max(b, 0)) for a, b in pad]
    cut = (slice(max(-a, 0), b if b < 0 else None) for a, b in pad)
    padded = np.pad(x, around, constant_values=value) if any(map(any, around)) else x
    return padded[(..., *cut)]


def _chunks(x: Array, unfolded: int) -> Iterator[Array]:
    """Some rows at a time, so that the unfolded rows stay small."""
    count = max(1, CHUNK // unfolded)
    return (x[start : start + count] for start in range(0, len(x), count))


def _unfold(
    x: Array,
    window: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    places: tuple[int, ...],
) -> Array:
    """The windows as columns: `[n, groups, channels and window, places]`."""
    count = len(window)
    extents = tuple(d * (k - 1) + 1 for k, d in zip(window, dilation, strict=True))
    view: Array = sliding_window_view(x, extents, axis=tuple(range(2, 2 + count)))
    steps = [*(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation)]
    seen = view[(..., *steps)]
    order = (0, 1, *range(2 + count, 2 + 2 * count), *range(2, 2 + count))
    return seen.transpose(order).reshape(len(x), groups, -1, prod(places))


# --- rows ------------------------------------------------------------------------------------


def _stack(values: list[Value]) -> Value:
    if isinstance(values[0], tuple):
        return tuple(_stack(list(part)) for part in zip(*values, strict=True))
    return np.stack(values)


def _zeros(rows: tuple[Array, ...]) -> Iterator[Array]:
    """A row of each array, to try a function on."""
    return (np.zeros(x.shape[1:], x.dtype) for x in rows)


def _none(value: Value) -> Value:
    """An array of zero rows of that shape."""
    if isinstance(value, tuple):
        return tuple(_none(part) for part in value)
    return np.zeros((0, *np.shape(value)), np.asarray(value).dtype)


# --- the error function ----------------------------------------------------------------------

# W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969):
# numerators and denominators by falling powers, of x² near zero, of x in the middle, of 1/x² in
# the tail.
NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
     3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
     3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
TAIL = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def refusal(problem: Exception) -> str | None:
    """The reason, where NumPy cannot make an array of some size."""
    too_large = isinstance(problem, ValueError) and str(problem).startswith(TOO_LARGE)
    return failures.TOO_LARGE if too_large else None


def _erf(x: Array) -> Array:
    """In f64, to the last digits. Beyond 6 it is 1."""
    size = np.abs(x)
    result = np.where(np.isnan(x), x, 1.0)
    near, tail = size <= 0.46875, (size > 4) & (size < 6)
    middle = (size <= 4) & ~near
    y = size[near]
    result[near] = y * _ratio(NEAR, y * y)
    y = size[middle]
    result[middle] = 1 - np.exp(-y * y) * _ratio(MIDDLE, y)
    y = size[tail]
    square = 1 / (y * y)
    inner = (1 / sqrt(np.pi) - square * _ratio(TAIL, square)) / y
    result[tail] = 1 - np.exp(-y * y) * inner
    return np.copysign(result, x)


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    above, below = polynomials
    return np.polyval(above, x) / np.polyval(below, x)
