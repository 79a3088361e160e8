"""The functions of NumPy's modules `fft` and `linalg`, for values of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axon.backends.segments.along import axes_of
from axon.backends.segments.arrays import MODULES, only
from axon.backends.segments.frames import NotFlat
from axon.backends.segments.rows import Rows, by_row, enter, leave
from axon.ops.arrays import Array


class Fft:
    """Along one axis, whose size does not differ."""

    def __init__(self, below: Any) -> None:
        self.below = below

    def __getattr__(self, name: str) -> Any:
        below = getattr(self.below, name)

        def do(x: Any, n: Any = None, axis: int = -1) -> Any:
            if not by_row((x, n)):
                return below(x, n=n, axis=axis)
            (along,) = axes_of(axis, x.ndim)
            return _along(below, only(x), n, along)

        return do


def _along(below: Callable[..., Array], x: Rows, n: Any, along: int) -> Rows:
    if x.segments is None and not by_row(n):
        return Rows(x.frame, below(x.values, n=n, axis=along + 1))
    if x.segments is None or along == x.place:
        raise NotFlat("a transform along a size that differs")
    made = _along(below, enter(x), n, along - (along > x.place))
    return leave(x.frame, made, x.segments, x.place)


class Linalg:
    """Of matrices, which are the last two dimensions."""

    def __init__(self, below: Any) -> None:
        self.below = below

    def __getattr__(self, name: str) -> Any:
        below = getattr(self.below, name)

        def do(x: Any) -> Any:
            return _of_matrices(below, only(x)) if by_row(x) else below(x)

        return do


def _of_matrices(below: Callable[..., Array], x: Rows) -> Rows:
    if x.segments is None:
        return Rows(x.frame, below(x.values))
    if x.place >= x.ndim - 2:
        raise NotFlat("matrices whose sizes differ")
    return leave(x.frame, _of_matrices(below, enter(x)), x.segments, x.place)


MODULES.update(fft=Fft, linalg=Linalg)
