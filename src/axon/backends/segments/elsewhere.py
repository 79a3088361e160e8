"""An operator on values of rows, with the arrays of another library."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from axon.backends.segments.arrays import FlatArrays
from axon.backends.segments.frames import Counts, Frame, NotFlat, Parted, Unrelated
from axon.backends.segments.rows import ByRow, Grouped, Rows
from axon.ops.arrays import Array, Meaning, Value


def applied(
    meaning: Meaning,
    here: FlatArrays,
    there: FlatArrays,
    forth: Callable[[Array], Array],
    back: Callable[[Array], Array],
    *args: Any,
    **attributes: Any,
) -> Value:
    """What a meaning makes of values of rows in another namespace. `forth` and `back` change the
    arrays. Every frame has a twin there, so that the rows stay those of the same frames.
    """
    twins, home = _Twins(there, forth), _Twins(here, back)
    twins.back, home.back = home, twins
    given = [twins.value(arg) for arg in args]
    named = {name: twins.value(value) for name, value in attributes.items()}
    try:
        return home.value(meaning(there, *given, **named))
    except Parted as found:
        raise Parted(home.frame(found.frame), found.labels) from None
    except Unrelated as found:
        raise Unrelated(*map(home.frame, found.frames)) from None


class _Twins:
    """Values of rows of some frames, as those of their twins, and their arrays changed."""

    back: _Twins

    def __init__(self, arrays: FlatArrays, change: Callable[[Array], Array]) -> None:
        self.arrays = arrays
        self.change = change
        self.pairs: dict[Frame, Frame] = {}

    def frame(self, frame: Frame) -> Frame:
        found = self.pairs.get(frame)
        if found is None:
            parent = None if frame.parent is None else self.frame(frame.parent)
            found = Frame(
                self.arrays, frame.count, parent, frame.rows, frame.segments, frame.undivided
            )
            found.assumed = frame.assumed
            self.pairs[frame] = found
            self.back.pairs[found] = frame
        return found

    def value(self, x: Any) -> Any:
        if isinstance(x, tuple | list):
            return type(x)(map(self.value, x))
        if isinstance(x, Counts):
            return Counts(self.frame(x.frame), x.numbers, x.segments)
        if isinstance(x, Grouped):
            parts = [(members, self.value(part)) for members, part in x.parts]
            return Grouped(self.frame(x.frame), parts)
        if isinstance(x, Rows):
            return Rows(self.frame(x.frame), self.value(x.values), x.segments, x.place)
        if isinstance(x, ByRow):
            raise NotFlat("matrices in tiles, on another library")
        if callable(x):
            return self._function(x)
        return self.change(x) if hasattr(x, "dtype") else x

    def _function(self, function: Callable[..., Value]) -> Callable[..., Value]:
        """It is applied where it is, to what comes from the other library."""

        def apply(*args: Any) -> Value:
            return self.value(function(*map(self.back.value, args)))

        return update_wrapper(apply, function)
