"""Taking parts of a tensor: by position, and by other tensors."""

from __future__ import annotations

from axon.ops.arrays import Array, Arrays
from axon.ops.axes import LIMIT, append, around, at, bad_axes, dims, shift
from axon.ops.operator import Element, Extent, Problem, Rule, operator
from axon.ops.padding import TrueSizes, taken
from axon.ops.traits import Padding, Traits

# --- slices ----------------------------------------------------------------------------------


@operator(
    Traits(padding=Padding(("after*",), {"n": "anything"}, made=("~*",), sizes=("start", "stop"))),
    name="slice",
)
def slice_(
    *,
    start: Extent | None = None,
    stop: Extent | None = None,
    step: Extent = 1,
    axis: int = 0,
) -> Rule:
    """The rows from `start` up to and without `stop`, as Python counts: negative bounds count from
    the end, and bounds that lie outside are brought in.

    - `start`, `stop`: the bounds; from one end to the other if not given.
    - `step`: the distance from one to the next; a negative step goes backwards.
    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> slice(x : f32 [10,3], start=2, stop=-1)
    f32 [7,3]
    >>> slice(x : f32 [n,3], stop=8)
    f32 [min(n,8),3]
    >>> slice(x : f32 [b,7], step=2, axis=1)
    f32 [b,4]
    """
    if problem := bad_axes((axis,)):
        return problem
    if step == 0:
        return Problem("step is 0: it must be at least 1, or negative to go backwards")
    forward = not is_from_end(step) if isinstance(step, str) else step > 0
    if forward:
        length = _between(_bound(start, 0), _bound(stop, END))
    else:  # what lies between `stop` and `start`, moved on by one: the rows stop+1 … start
        length = _between(_bound(_next(stop), 0), _bound(_next(start), END))
    if isinstance(step, str):
        stride = step if forward else f"(0-{step})"
        length = f"({length}+{stride}-1)/{stride}"
    elif abs(step) > 1 and length != "0":
        length = f"({shift(length, abs(step) - 1)})/{abs(step)}"
    ends = [_below_zero(each) for each in (start, stop, step) if is_from_end(each)]
    sizes = [each for each in (start, stop) if isinstance(each, str) and not is_from_end(each)]
    ends += [f"{each} >= 0" for each in sizes]
    if isinstance(step, str) and forward:
        ends.append(f"{step} >= 1")
    where = f" where {', '.join(ends)}" if ends else ""
    return f"t {at(axis, 'n', tail='after')} -> t {at(axis, length, tail='after')}{where}"


@slice_.means
def _(xp: Arrays, x: Array, start: int | None, stop: int | None, step: int, axis: int) -> Array:
    return xp.sliced(x, along(x, axis, slice(start, stop, step)))


@slice_.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    start: int | None,
    stop: int | None,
    step: int,
    axis: int,
) -> Array:
    """Where it begins is counted by the true sizes; how far it reaches follows from the type. A
    size that is a bound has the sign of the true one where it is padded.
    """
    axis %= x.ndim
    size, begin = true.of(0)[axis], true.attribute("start", start)
    if step > 0 and (start is None or (start >= 0 and isinstance(begin, int))):
        return xp.sliced(x, along(x, axis, slice(start, stop, step)))
    count = len(range(*slice(start, stop, step).indices(x.shape[axis])))
    low, high = (0, size) if step > 0 else (-1, size - 1)
    if start is None:
        first = low if step > 0 else high
    elif start < 0:
        first = xp.maximum(size + begin, low)
    else:
        first = xp.minimum(begin, high)
    place = xp.arange(count, dtype=xp.element("i64"))
    return taken(xp, x, axis, first + place * step)


def along(x: Array, axis: int, index: object) -> tuple[object, ...]:
    """What to write in brackets for an index on one axis."""
    return (*[slice(None)] * (axis % x.ndim), index, ...)


FROM_END = "_from_end"
"""The end of the name of a place that counts from the end, whatever size it is: it is negative."""


def is_from_end(value: object) -> bool:
    return isinstance(value, str) and value.endswith(FROM_END)


def _below_zero(value: object) -> str:
    return f"0-{value} >= 1"


Bound = tuple[bool, Extent]
"""A place among n rows: counted from the end, if the first is true, and brought in to 0 … n."""

END: Bound = (True, 0)


def _bound(value: Extent | Bound | None, default: int | Bound) -> Bound:
    match value:
        case None:
            return default if isinstance(default, tuple) else (False, default)
        case tuple():
            return value
        case int() if value < 0:
            return True, -value
        case str() if is_from_end(value):
            return True, f"(0-{value})"
        case _:
            return False, value


def _next(value: Extent | None) -> Extent | Bound | None:
    """The place after this one; after -1 comes the end."""
    match value:
        case None:
            return None
        case -1:
            return END
        case int():
            return value + 1
        case str() if is_from_end(value):
            return True, f"(0-{value}-1)"
        case str():
            return f"{value}+1"


def _between(low: Bound, high: Bound) -> str:
    """How many of n rows lie from one bound up to another: `max(high - low, 0)`, simplified where
    the two tell how."""
    low_from_end, a = low
    high_from_end, b = high
    if low_from_end == high_from_end:
        # from one end: min(n,b) - a, where that is positive
        far, near = (a, b) if low_from_end else (b, a)
        if isinstance(far, int) and isinstance(near, int) and far <= near:
            return "0"
        reach = f"min(n,{far})"
        return reach if near == 0 else f"max({_minus(reach, near)},0)"
    if high_from_end:
        if isinstance(a, int) and isinstance(b, int):
            rest = shift("n", -a - b)
        else:
            rest = _minus(_minus("n", a), b)
        return rest if rest == "n" else f"max({rest},0)"
    if a == 0 or b == 0:
        return "0"
    return f"max(min(n,{b})-max({_minus('n', a)},0),0)"


def _minus(text: str, size: Extent) -> str:
    if isinstance(size, int):
        return shift(text, -size)
    return f"{text}-({size})" if "+" in size else f"{text}-{size}"


@operator(Traits(padding=Padding(("after*",), reduced="anything", sizes=("i",))))
def index(*, i: Extent, axis: int = 0) -> Rule:
    """One row; its axis goes.

    - `i`: which row. A negative one counts from the end.
    - `axis`: along which axis; the outermost if not given. Negative axes count from the back.

    >>> index(x : f32 [10,n], i=0)
    f32 [n]
    >>> index(x : f32 [b,10], i=-1, axis=1)
    f32 [b]
    """
    if problem := bad_axes((axis,)):
        return problem
    if isinstance(i, int):
        least = str(i + 1 if i >= 0 else -i)
    elif is_from_end(i):
        least = f"0-{i}, {_below_zero(i)}"
    else:
        least = f"{i}+1"
    return f"t {at(axis, 'n', tail='after')} -> t {at(axis, tail='after')} where n >= {least}"


@index.means
def _(xp: Arrays, x: Array, i: int, axis: int) -> Array:
    return x[along(x, axis, i)]


@index.padded
def _(xp: Arrays, true: TrueSizes, x: Array, i: int, axis: int) -> Array:
    """A size has the sign of the true one where it is padded."""
    place = true.attribute("i", i)
    if i >= 0 and isinstance(place, int):
        return x[along(x, axis, place)]
    axis %= x.ndim
    return xp.take(x, place if i >= 0 else true.of(0)[axis] + place, axis=axis)


@operator(Traits(padding=Padding(("*",))))
def ensure_rank(*, least: int) -> Rule:
    """The tensor itself, which must have at least `least` dimensions.

    - `least`: how many.

    >>> ensure_rank(x : f32 [n,3], least=1)
    f32 [n,3]
    """
    if not 0 <= least <= LIMIT:
        return Problem(f"least is {least}: from 0 to {LIMIT} is fine")
    whole = append(dims(f"d{i}" for i in range(least)), "s")
    return f"t {whole} -> t {whole}"


@ensure_rank.means
def _(xp: Arrays, x: Array, least: int) -> Array:
    return x


# --- by integer tensors ----------------------------------------------------------------------


@operator(Traits(padding=Padding(("r", "after*"), {"n": "anything"})))
def gather(*, axis: int = 0) -> Rule:
    """The rows with the given numbers; the shape of the numbers takes the place of the axis.
    Negative numbers count from the end. There must be a row for each; JAX does not tell if there is
    none.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> gather(table : f32 [v,d], tokens : i64 [b,s])
    f32 [b,s,d]
    >>> gather(x : f32 [n,10], i : i32 [3], axis=1)
    f32 [n,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    before, behind = around(axis, tail="after")
    x = at(axis, "n", tail="after")
    return f"(t {x}, i r) -> t {append(before, 'r', behind)} where i : int"


@gather.means
def _(xp: Arrays, x: Array, numbers: Array, axis: int) -> Array:
    axis %= x.ndim
    taken = xp.take(x, numbers_of(xp, numbers), axis=axis)
    shape = (*x.shape[:axis], *numbers.shape, *x.shape[axis + 1 :])
    return xp.reshape(taken, shape)  # where there are no rows, JAX takes the numbers for a list


@gather.padded
def _(xp: Arrays, true: TrueSizes, x: Array, numbers: Array, axis: int) -> Array:
    axis %= x.ndim
    taken = xp.take(x, _from_true_end(xp, true, x, axis, numbers), axis=axis)
    return xp.reshape(taken, (*x.shape[:axis], *numbers.shape, *x.shape[axis + 1 :]))


def _from_true_end(xp: Arrays, true: TrueSizes, x: Array, axis: int, numbers: Array) -> Array:
    """Numbers of rows, negative ones counted from the true end; what is outside stays there."""
    size, found = true.of(0)[axis], numbers_of(xp, numbers)
    if isinstance(size, int):
        return found
    found = xp.where(found < 0, found + size, found)
    return xp.where((found < 0) | (found >= size), x.shape[axis], found)


def numbers_of(xp: Arrays, x: Array) -> Array:
    """Integers of a type that can number all the rows there may be."""
    return xp.astype(x, xp.element("i64"))


@operator(
    Traits(padding=Padding(("m", "after*"), {"n": "anything"})),
    roles={"s": "other sizes", "d0": "other sizes"},
)
def gather_elements(*, axis: int = 0) -> Rule:
    """For each element of the result, which row of its own column to take it from.

    - `axis`: which one the numbers count along; the outermost if not given. Negative axes count
      from the back.

    >>> gather_elements(x : f32 [b,n], i : i64 [b,3], axis=1)
    f32 [b,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    x, y = at(axis, "n", tail="after"), at(axis, "m", tail="after")
    return f"(t {x}, i {y}) -> t {y} where i : int"


@gather_elements.means
def _(xp: Arrays, x: Array, numbers: Array, axis: int) -> Array:
    return xp.take_along_axis(x, numbers_of(xp, numbers), axis=axis)


@gather_elements.padded
def _(xp: Arrays, true: TrueSizes, x: Array, numbers: Array, axis: int) -> Array:
    places = _from_true_end(xp, true, x, axis % x.ndim, numbers)
    return xp.take_along_axis(x, places, axis=axis)


@operator(Traits(padding=Padding(("*",), made=("*",), sizes=("depth",))))
def one_hot(*, depth: Extent, axis: int = -1, to: Element = "f32") -> Rule:
    """A 1 in the place that each number tells, and zeros elsewhere, along a new axis.

    - `depth`: the size of the new axis.
    - `axis`: its place in the result; innermost if not given.
    - `to`: the element type of the result.

    >>> one_hot(x : i64 [b,n], depth=10)
    f32 [b,n,10]
    """
    if problem := bad_axes((axis,)):
        return problem
    if isinstance(depth, int) and depth < 0:
        return Problem("depth must be at least 0")
    return f"i {at(axis)} -> {to} {at(axis, str(depth))} where i : int"


@one_hot.means
def _(xp: Arrays, x: Array, depth: int, axis: int, to: Element) -> Array:
    places = xp.arange(depth, dtype=xp.element("i64"))
    hot = numbers_of(xp, x)[..., None] == places
    return xp.astype(xp.moveaxis(hot, -1, axis), xp.element(to))
