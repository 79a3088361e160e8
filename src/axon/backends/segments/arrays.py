"""The array namespace in which an operator's meaning sees all rows at once.

It has the functions of the namespace below for what is the same for all rows, and for values of
rows a rule: elementwise functions on the packed elements, reductions by segments, and so on (see
the modules beside this one). A function without a rule, and a rule that does not apply, is
`NotFlat`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from axon.backends.segments.frames import MOST, TOO_LARGE, Counts, Frame, NotFlat
from axon.backends.segments.rows import (
    ByRow,
    Grouped,
    Rows,
    by_row,
    check_room,
    innermost,
    leave,
    lift,
)
from axon.ops import Operator
from axon.ops.arrays import Array, Meaning

Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}
"""By the name of the function: called with this namespace, the function below and its arguments."""

TILED: dict[str, Rule] = {}
"""The same for functions of matrices in tiles."""

MODULES: dict[str, Callable[[Any], Any]] = {}
"""What stands for the modules of functions that the namespace below has."""

CALLING: dict[str, Rule] = {}
"""The same for functions that call others, which may use what differs: so they are called whether
an argument differs or not.
"""

INSTEAD: dict[Meaning, Rule] = {}
"""By the meaning of an operator: called with this namespace, the meaning and its arguments."""

WORDS = """
    abs add arccos arccosh arcsin arcsinh arctan arctanh bitwise_and bitwise_not bitwise_or
    bitwise_xor ceil clip cos cosh divide equal erf exp expm1 floor floor_divide fmod greater
    greater_equal imag isfinite isinf isnan isneginf left_shift less less_equal log log10 log1p log2
    logical_and logical_not logical_or logical_xor low32 maximum minimum multiply negative not_equal
    ones_like power real reciprocal remainder right_shift rint round sign sin sinh sqrt square
    stop_gradient subtract tan tanh where zeros_like
"""
POINTWISE = frozenset(WORDS.split())


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(found: Rule) -> Rule:
        for name in names:
            RULES[name] = found
        return found

    return register


class FlatArrays:
    """`xp` for values of rows."""

    vectorised = None

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def __getattr__(self, name: str) -> Any:
        made = self._function(name)
        self.__dict__[name] = made
        return made

    def _function(self, name: str) -> Any:
        below = getattr(self.xp, name)
        if name in MODULES:
            return MODULES[name](below)
        if not callable(below) or isinstance(below, type):
            return below
        found = RULES.get(name)
        if name in POINTWISE:
            found = _pointwise
        if name in CALLING:
            return partial(CALLING[name], self, below)

        def do(*args: Any, **named: Any) -> Any:
            for arg in args:
                if type(arg) is Rows or by_row(arg):
                    break
            else:
                if not named or not any(map(by_row, named.values())):
                    return below(*args, **named)
            tiled = found is not _pointwise and any(map(in_tiles, args))
            rule = TILED.get(name) if tiled else found
            if rule is None:
                raise NotFlat(name)
            return rule(self, below, *args, **named)

        return do

    def meaning_of(self, operator: Operator, given: frozenset[str], made: Any) -> Meaning:
        assert operator.meaning is not None
        around = self.xp.around_meaning(operator, given, made)
        return operator.meaning if around is None else around(operator.meaning)

    def astype(self, x: Any, dtype: Any) -> Any:
        if isinstance(x, Rows):
            return x if x.dtype == dtype else leaves(x, lambda v: self.xp.astype(v, dtype))
        if in_tiles(x):
            return x if x.dtype == dtype else TILED["astype"](self, self.xp.astype, x, dtype)
        if by_row(x):
            raise NotFlat("astype")
        return self.xp.astype(x, dtype)

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if isinstance(x, Counts):
            return Rows(x.frame, self.xp.asarray(x.numbers, dtype))
        if isinstance(x, ByRow):
            return x if dtype is None else self.astype(x, dtype)
        if by_row(x):
            raise NotFlat("asarray")
        return self.xp.asarray(x, dtype=dtype)

    def integer(self, x: Any) -> Any:
        """A number of each row, as a size: with that it can be computed."""
        if not isinstance(x, Rows):
            return self.xp.integer(x)
        numbers = x.numbers()
        if not (numpy.abs(numbers.astype(numpy.float64)) <= MOST).all():
            raise NotFlat(TOO_LARGE)
        numbers = numbers.astype(numpy.int64)
        same = len(numbers) and (numbers == numbers[0]).all()
        return int(numbers[0]) if same else Counts(x.frame, numbers)

    def sizes(self, sizes: Any, elem: str) -> Any:
        if not by_row(sizes):
            return self.xp.sizes(sizes, elem)
        frame = innermost([sizes])
        assert frame is not None
        parts = sizes if isinstance(sizes, tuple) else (sizes,)
        dtype = self.xp.element(elem)
        found = next(p.into(frame).numbers for p in parts if isinstance(p, Counts))
        columns = [p.into(frame).numbers if isinstance(p, Counts) else p + 0 * found for p in parts]
        for column in columns:
            self._in_range(column, dtype)
        numbers = [self.xp.asarray(column, dtype=dtype) for column in columns]
        whole = self.xp.stack(numbers, axis=1) if isinstance(sizes, tuple) else numbers[0]
        return Rows(frame, whole)

    def _in_range(self, numbers: Any, dtype: Any) -> None:
        if self.xp.kind(dtype) not in "iu":
            return
        bounds = self.xp.iinfo(dtype)
        if ((numbers > int(bounds.max)) | (numbers < int(bounds.min))).any():
            raise NotFlat("a size does not fit")

    # --- element by element ---

    def pointwise(self, how: Callable[..., Array], *args: Any) -> Any:
        """An elementwise function, with the broadcasting of NumPy in each row."""
        found = _plainly(how, args)
        if found is not None:
            return found
        if any(isinstance(arg, Grouped) for arg in args):
            raise NotFlat("rows in parts")
        if any(map(in_tiles, args)) or _crossed(args):
            return TILED["pointwise"](self, how, *args)
        frame = innermost(args)
        assert frame is not None
        given = [self._number(arg, args) if isinstance(arg, Counts) else arg for arg in args]
        rank = max(getattr(arg, "ndim", 0) for arg in given)
        return self._aligned(frame, how, given, rank)

    def _number(self, x: Counts, args: Sequence[Any]) -> Rows:
        """A size as a number beside an array: it takes the type of that, as Python's numbers do."""
        like = next((a for a in args if not isinstance(a, Counts) and hasattr(a, "dtype")), None)
        if like is None or self.xp.kind(like.dtype) == "b":
            raise NotFlat("a size as a number")
        self._in_range(x.numbers, like.dtype)
        return Rows(x.frame, self.xp.asarray(x.numbers, dtype=like.dtype))

    def _aligned(
        self, frame: Frame, how: Callable[..., Array], args: Sequence[Any], rank: int
    ) -> Rows:
        args = [lift(arg, frame) if isinstance(arg, Rows) else arg for arg in args]
        packed = [a for a in args if isinstance(a, Rows) and a.segments is not None]
        if not packed:
            values = [
                _with_rank(arg.values, rank + 1) if isinstance(arg, Rows) else arg for arg in args
            ]
            shapes = {tuple(v.shape) for v in values if hasattr(v, "shape")}
            if len(shapes) > 1:
                sizes = numpy.broadcast_shapes(*shapes)
                check_room(frame, sizes[0], sizes[1:], packed_dtype(values))
            return Rows(frame, how(*values))
        segments, behind = packed[0].segments, packed[0].place - packed[0].ndim
        assert segments is not None
        for other in packed[1:]:
            assert other.segments is not None
            if other.place - other.ndim != behind or not segments.same(other.segments):
                raise NotFlat("rows of different sizes")
        elements = segments.elements(frame)
        inner = [
            _entered(arg, elements) if isinstance(arg, Rows) and arg.segments is not None
            else self._beside(arg, behind, elements)
            for arg in args
        ]  # fmt: skip
        made = self._aligned(elements, how, inner, rank - 1)
        return leave(frame, made, segments, rank + behind)

    def _beside(self, x: Any, behind: int, elements: Frame) -> Any:
        """What has one element along the dimension that is left out, for each of those there."""
        if getattr(x, "ndim", 0) < -behind:
            return lift(x, elements) if isinstance(x, Rows) else x
        if x.shape[behind] != 1:
            raise NotFlat("a size beside one that differs")
        if isinstance(x, Rows):
            axis = x.values.ndim + behind
            return lift(Rows(x.frame, self.xp.squeeze(x.values, axis=axis)), elements)
        return self.xp.squeeze(x, axis=x.ndim + behind)


def _plainly(how: Callable[..., Array], args: Sequence[Any]) -> Rows | None:
    """What needs no alignment: rows of one rank whose sizes do not differ, and numbers."""
    first: Rows | None = None
    values: list[Any] = []
    for arg in args:
        if type(arg) is Rows:
            if arg.segments is not None:
                return None
            if first is None:
                first = arg
            elif arg.frame is not first.frame or arg.values.shape != first.values.shape:
                return None
            values.append(arg.values)
        elif type(arg) in NUMBERS or getattr(arg, "ndim", -1) == 0:
            values.append(arg)
        else:
            return None
    return None if first is None else Rows(first.frame, how(*values))


def in_tiles(x: Any) -> bool:
    """Whether a value is a matrix of each row, in tiles."""
    return isinstance(x, ByRow) and type(x) is not Rows


def _crossed(args: Sequence[Any]) -> bool:
    """Whether the elements of rows along one axis meet those along another."""
    behind = {x.place - x.ndim for x in args if type(x) is Rows and x.segments is not None}
    return behind == {-1, -2}


NUMBERS = frozenset((int, float, bool))


def packed_dtype(values: Sequence[Any]) -> Any:
    return next(v.dtype for v in values if hasattr(v, "shape") and v.ndim)


def _entered(x: Rows, elements: Frame) -> Rows:
    """The elements of rows, as those of a frame that has the same."""
    if not isinstance(x.values, Rows):
        return Rows(elements, x.values)
    inner = x.values
    return Rows(elements, inner.values, inner.segments, inner.place)


def _with_rank(values: Array, rank: int) -> Array:
    """An array with a dimension of rows, with more dimensions behind that one."""
    if values.ndim == rank:
        return values
    count, *sizes = values.shape
    return values.reshape(count, *(1,) * (rank - values.ndim), *sizes)


def leaves(x: Rows, change: Callable[[Array], Array]) -> Rows:
    """A value with its array replaced by one with the same first dimensions."""
    if isinstance(x.values, Rows):
        return Rows(x.frame, leaves(x.values, change), x.segments, x.place)
    return Rows(x.frame, change(x.values), x.segments, x.place)


def _pointwise(xp: FlatArrays, below: Callable[..., Array], *args: Any, **named: Any) -> Any:
    if any(map(by_row, named.values())):
        raise NotFlat("a named argument of an elementwise function")
    return xp.pointwise(partial(below, **named) if named else below, *args)


@rule("full_like")
def _full_like(xp: FlatArrays, below: Callable[..., Array], x: Any, value: Any) -> Any:
    if not isinstance(x, Rows) or by_row(value):
        raise NotFlat("full_like")
    return leaves(x, lambda v: below(v, value))


def only(x: Any) -> Rows:
    """A value of rows, and not in parts."""
    if not isinstance(x, Rows):
        raise NotFlat("something else than the elements of rows")
    return x
