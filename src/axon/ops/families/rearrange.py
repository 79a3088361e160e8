"""Operators that move elements about and compute nothing: joining, cutting up, and changing the
shape."""

from __future__ import annotations

import math
from itertools import accumulate

from axon.ops.arrays import Array, Arrays, Value, is_integer
from axon.ops.axes import LIMIT, append, at, bad_axes, dims, place, shift
from axon.ops.operator import Extent, Extents, Ints, Problem, Rule, operator
from axon.ops.padding import TrueSizes, taken
from axon.ops.traits import Attributes, Padding, RowRule, Traits

MOST_PARTS = 1024
"""The most parts that a tensor is cut into."""


# --- joining and cutting ---------------------------------------------------------------------


@operator(
    Traits(
        rows=RowRule.JOINED,
        joins=True,
        padding=Padding(("after*", "a"), reduced="anything", made=("~*",)),
    ),
    roles={"after": "other sizes", "s": "other sizes", "d0": "other sizes"},
)
def concat(arity: int, *, axis: int = 0) -> Rule:
    """Join tensors along an axis; the other dimensions must agree.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> concat(x : f32 [a,3], y : f32 [b,3])
    f32 [a+b,3]
    >>> concat(x : f32 [2,3], y : f32 [2,4], z : f32 [2,5], axis=1)
    f32 [2,12]
    """
    if arity < 1:
        return Problem("concat takes at least one tensor")
    if problem := bad_axes((axis,)):
        return problem
    sizes = list("abc")[:arity] if arity <= 3 else [f"n{i}" for i in range(1, arity + 1)]
    params = ", ".join(f"t {at(axis, size, tail='after')}" for size in sizes)
    return f"({params}) -> t {at(axis, '+'.join(sizes), tail='after')}"


@concat.means
def _(xp: Arrays, *parts: Array, axis: int) -> Array:
    return xp.concatenate(parts, axis=axis)


@concat.padded
def _(xp: Arrays, true: TrueSizes, *parts: Array, axis: int) -> Array:
    """Each part begins where the one before it truly ends."""
    whole, axis = xp.concatenate(parts, axis=axis), axis % parts[0].ndim
    place = xp.arange(whole.shape[axis], dtype=xp.element("i64"))
    found, begins, stands = place, 0, 0
    for number, part in enumerate(parts):
        found = xp.where(place >= begins, place - begins + stands, found)
        begins, stands = begins + true.of(number)[axis], stands + part.shape[axis]
    return taken(xp, whole, axis, found)


@operator(Traits(rows=RowRule.STACKED, joins=True, padding=Padding(("*",))), roles={"s": "shapes"})
def stack(arity: int, *, axis: int = 0) -> Rule:
    """Put tensors of one shape side by side along a new axis.

    - `axis`: the place of the new one in the result; outermost if not given. Negative axes count
      from the back.

    >>> stack(x : f32 [n], y : f32 [n])
    f32 [2,n]
    >>> stack(x : f32 [b,n], y : f32 [b,n], z : f32 [b,n], axis=-1)
    f32 [b,n,3]
    """
    if arity < 1:
        return Problem("stack takes at least one tensor")
    if problem := bad_axes((axis,)):
        return problem
    params = ", ".join([f"t {at(axis)}"] * arity)
    return f"({params}) -> t {at(axis, str(arity))}"


@stack.means
def _(xp: Arrays, *parts: Array, axis: int) -> Array:
    return xp.stack(parts, axis=axis)


def _split_padding(attributes: Attributes) -> Padding:
    equal = Padding(("after*", "n"), reduced="anything", made=("n",))
    return equal if attributes["sizes"] is None else Padding(("after*",))


@operator(Traits(padding=_split_padding))
def split(*, parts: int | None = None, sizes: Extents | None = None, axis: int = 0) -> Rule:
    """Cut a tensor along an axis; the result is a tuple.

    - `parts`: the number of equal parts,
    - `sizes`: or into parts of these sizes, which must add up to the whole.
    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> split(x : f32 [b,6], parts=2, axis=1)
    (f32 [b,3], f32 [b,3])
    >>> split(x : f32 [5,n], sizes=[2,3])
    (f32 [2,n], f32 [3,n])
    """
    if problem := bad_axes((axis,)):
        return problem
    if (parts is None) == (sizes is None):
        return Problem("give either parts=… (how many equal ones) or sizes=[…]")
    count = len(sizes) if sizes is not None else parts or 0
    if not 1 <= count <= MOST_PARTS:
        return Problem(f"a tensor is cut into 1 to {MOST_PARTS} parts, not {count}")
    if sizes is None:
        whole, pieces = f"{count}*n" if count > 1 else "n", ["n"] * count
    elif any(isinstance(size, int) and size < 0 for size in sizes):
        return Problem("the size of a part must be at least 0")
    else:
        pieces = [str(size) for size in sizes]
        whole = "+".join(pieces)
    results = ", ".join(f"t {at(axis, piece, tail='after')}" for piece in pieces)
    return f"t {at(axis, whole, tail='after')} -> {f'({results})' if count > 1 else results}"


@split.means
def _(xp: Arrays, x: Array, parts: int | None, sizes: Ints | None, axis: int) -> Value:
    if sizes is None:
        count = parts or 1
        sizes = (x.shape[axis] // count,) * count
    pieces = xp.split(x, tuple(accumulate(sizes))[:-1], axis=axis)
    return tuple(pieces) if len(pieces) > 1 else pieces[0]


@split.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, parts: int | None, sizes: Ints | None, axis: int
) -> Value:
    axis, count = axis % x.ndim, parts or 1
    place = xp.arange(x.shape[axis] // count, dtype=xp.element("i64"))
    each = true.of(0)[axis] // count
    pieces = [taken(xp, x, axis, place + number * each) for number in range(count)]
    return tuple(pieces) if count > 1 else pieces[0]


# --- changing the shape ----------------------------------------------------------------------


@operator(Traits(infers_size=True, padding=Padding(in_order=True)))
def reshape() -> Rule:
    """The same elements in the same order, under another shape with as many elements.

    >>> reshape(x : f32 [b,s,64], [b,s,8,8])
    f32 [b,s,8,8]
    """
    return "(t p, shape q) -> t q where size(p) = size(q)"


@reshape.means
def _(xp: Arrays, x: Array, shape: Ints) -> Array:
    return xp.reshape(x, shape)


@operator(Traits(padding=Padding(in_order=True)))
def flatten(*, axis: int | None = None) -> Rule:
    """All elements in one dimension; or, with an axis, in two: what is before the axis, and the
    rest.

    - `axis`: where the second dimension begins. Negative axes count from the back.

    >>> flatten(x : f32 [b,3,4])
    f32 [12*b]
    >>> flatten(x : f32 [b,3,4], axis=1)
    f32 [b,12]
    """
    if axis is None:
        return "t s -> t [size(s)]"
    if problem := bad_axes((axis,)):
        return problem
    names = [f"d{i}" for i in range(abs(axis))]
    product = "*".join(names) or "1"
    if axis >= 0:
        return f"t {append(dims(names), 's')} -> t [{product},size(s)]"
    return f"t {append('s', dims(names))} -> t [size(s),{product}]"


@flatten.means
def _(xp: Arrays, x: Array, axis: int | None) -> Array:
    if axis is None:
        return xp.reshape(x, (math.prod(x.shape),))
    second = axis if axis >= 0 else x.ndim + axis
    return xp.reshape(x, (math.prod(x.shape[:second]), math.prod(x.shape[second:])))


@operator(Traits(rows=RowRule.AXES_REMOVED, padding=Padding(("*",))))
def squeeze(*, axis: Ints) -> Rule:
    """Leave out dimensions of size 1.

    - `axis`: one axis or a list. Negative axes count from the back.

    >>> squeeze(x : f32 [n,1,k], axis=1)
    f32 [n,k]
    """
    if problem := bad_axes(axis):
        return problem
    return f"t {place(axis, ['1'] * len(axis))} -> t {place(axis, [''] * len(axis))}"


@squeeze.means
def _(xp: Arrays, x: Array, axis: Ints) -> Array:
    return xp.squeeze(x, axis=axis)


@operator(Traits(rows=RowRule.AXES_INSERTED, padding=Padding(("*",))))
def expand_dims(*, axis: Ints) -> Rule:
    """Insert dimensions of size 1.

    - `axis`: their places in the result: one axis or a list. Negative axes count from the back.

    >>> expand_dims(x : f32 [n,k], axis=0)
    f32 [1,n,k]
    >>> expand_dims(x : f32 [n,k], axis=[1,-1])
    f32 [n,1,k,1]
    """
    if problem := bad_axes(axis):
        return problem
    return f"t {place(axis, [''] * len(axis))} -> t {place(axis, ['1'] * len(axis))}"


@expand_dims.means
def _(xp: Arrays, x: Array, axis: Ints) -> Array:
    return xp.expand_dims(x, axis)


@operator(Traits(core=0, padding=Padding(made=("*",))))
def broadcast_to() -> Rule:
    """Stretch a tensor to a shape, as NumPy does.

    >>> broadcast_to(x : f32 [n], [4,n])
    f32 [4,n]
    """
    return "(t p, shape q) -> t q where q = broadcast(p,q)"


@broadcast_to.means
def _(xp: Arrays, x: Array, shape: Ints) -> Array:
    return xp.broadcast_to(x, shape)


# --- longer, shorter, the other way round ----------------------------------------------------


@operator(Traits(padding=Padding(("d*", "s"), reduced="anything", made=("~*",))))
def tile(*, reps: Extents) -> Rule:
    """Repeat a tensor as a whole along its last axes.

    - `reps`: how often, one number for each of the last axes.

    >>> tile(x : f32 [n,3], reps=[2,1])
    f32 [2*n,3]
    """
    if len(reps) > LIMIT:
        return Problem(f"reps has {len(reps)} entries; there can be at most {LIMIT}")
    if any(isinstance(times, int) and times < 0 for times in reps):
        return Problem("reps must be at least 0")
    names = [f"d{i}" for i in range(len(reps))]
    longer = [_times(times, name) for times, name in zip(reps, names, strict=True)]
    return f"t {append('s', dims(names))} -> t {append('s', dims(longer))}"


@tile.means
def _(xp: Arrays, x: Array, reps: Ints) -> Array:
    return xp.tile(x, reps)


@tile.padded
def _(xp: Arrays, true: TrueSizes, x: Array, reps: Ints) -> Array:
    y = xp.tile(x, reps)
    for axis in true.padded(0):
        if y.shape[axis] == x.shape[axis]:
            continue  # what is padding there stays apart
        place = xp.arange(y.shape[axis], dtype=xp.element("i64"))
        y = taken(xp, y, axis, place % xp.maximum(true.of(0)[axis], 1))
    return y


def _times(times: Extent, name: str) -> str:
    return name if times == 1 else f"{times}*{name}"


@operator(Traits(padding=Padding(("n", "after*"), reduced="anything", made=("~*",))))
def repeat(*, times: Extent, axis: int = 0) -> Rule:
    """Repeat each row along an axis before the next one: a, a, b, b.

    - `times`: how often.
    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> repeat(x : f32 [n,3], times=2)
    f32 [2*n,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    if isinstance(times, int) and times < 0:
        return Problem("times must be at least 0")
    return f"t {at(axis, 'n', tail='after')} -> t {at(axis, _times(times, 'n'), tail='after')}"


@repeat.means
def _(xp: Arrays, x: Array, times: int, axis: int) -> Array:
    return xp.repeat(x, times, axis=axis)


PAD_MODES = ("constant", "edge", "reflect", "wrap")


@operator(
    Traits(
        padding=Padding(
            ("s", "after", "d*", "e*"), {"n*": "anything", "after_n*": "anything"}, made=("~*",)
        )
    )
)
def pad(
    arity: int,
    *,
    pad: Extents = (),
    before: Extent = 0,
    after: Extent = 0,
    axis: int = 0,
    value: float = 0.0,
    mode: str = "constant",
) -> Rule:
    """Put elements around a tensor, along its first axes or along one. What to put there may follow
    as a scalar. A negative number removes elements.

    - `pad`: a list with a pair `[before, after]` for each of the first axes,
    - `before`, `after`: or how many to put at the ends of one axis.
    - `axis`: which one; the outermost if not given. Negative axes count from the back.
    - `value`: the element to put there.
    - `mode`: or "edge" for the one at the end, "reflect" for what lies inside, mirrored there, and
      "wrap" for what lies at the other end.

    >>> pad(x : f32 [n,3], pad=[[1,1],[0,2]])
    f32 [n+2,5]
    >>> pad(x : f32 [b,n], before=1, axis=-1)
    f32 [b,n+1]
    >>> pad(x : f32 [8,3], before=-2, after=1)
    f32 [7,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    if pad and (before, after, axis) != (0, 0, 0):
        return Problem("give either pad=[[before, after], …] or before=… and after=… with an axis")
    if len(pad) % 2 or len(pad) > 2 * LIMIT:
        return Problem("pad is a list of pairs, one for each of the first axes: [[1,1],[0,2]]")
    pairs = [pad[i : i + 2] for i in range(0, len(pad), 2)] or [(before, after)]
    axes = tuple(range(len(pairs))) if pad else (axis,)
    moves = pairs[0] != (0, 0) and axes[0] == 0  # the first axis: what is behind it may not vary
    behind = "after_n" if moves else "n"
    names = [f"{behind if i else 'n'}{i}" for i in axes] if pad else ["n"]
    longer = [_longer(name, pair) for name, pair in zip(names, pairs, strict=True)]
    if mode not in PAD_MODES:
        return Problem(f'mode is "{mode}"; it can be "constant", "edge", "reflect" or "wrap"')
    if arity not in (1, 2):
        return Problem(f"pad takes a tensor, and perhaps a value; {arity} arguments are given")
    scalar = ", t []" if arity == 2 else ""
    least = [_least(pair, mode) for pair in pairs]
    some = ", ".join(f"{n} >= {size}" for n, size in zip(names, least, strict=True) if size)
    where = f" where {some}" if some else ""
    tail = "after" if moves else "s"
    return f"(t {place(axes, names, tail)}{scalar}) -> t {place(axes, longer, tail)}{where}"


@pad.means
def _(
    xp: Arrays,
    x: Array,
    *scalar: Array,
    pad: Ints,
    before: int,
    after: int,
    axis: int,
    value: float,
    mode: str,
) -> Array:
    pairs = [(0, 0)] * x.ndim
    if pad:
        pairs[: len(pad) // 2] = zip(pad[::2], pad[1::2], strict=True)
    else:
        pairs[axis] = (before, after)
    if any(size < 0 for pair in pairs for size in pair):
        cuts = zip(x.shape, pairs, strict=True)
        x = x[tuple(slice(max(-low, 0), n - max(-high, 0)) for n, (low, high) in cuts)]
        pairs = [(max(low, 0), max(high, 0)) for low, high in pairs]
    if mode != "constant":
        return xp.pad(x, pairs, mode=mode)
    if scalar:
        return xp.pad(x, pairs, constant_values=scalar[0])
    if is_integer(xp, x):  # cut off behind the point, and brought in if it does not fit
        value = int(min(max(xp.iinfo(x.dtype).min, value), xp.iinfo(x.dtype).max))
    return xp.pad(x, pairs, constant_values=xp.asarray(value, dtype=x.dtype))


@pad.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    *scalar: Array,
    pad: Ints,
    before: int,
    after: int,
    axis: int,
    value: float,
    mode: str,
) -> Array:
    """Along an axis after the other: what stands at each place, or is put there."""
    pairs = {axis % x.ndim: (before, after)}
    if pad:
        pairs = {i: (pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)}
    if scalar:
        number = scalar[0]
    else:
        if is_integer(xp, x):
            value = int(min(max(xp.iinfo(x.dtype).min, value), xp.iinfo(x.dtype).max))
        number = xp.asarray(value, dtype=x.dtype)
    for along, (low, high) in pairs.items():
        size = true.of(0)[along]
        place = xp.arange(x.shape[along] + low + high, dtype=xp.element("i64")) - low
        outside = (place < 0) | (place >= size)
        last = xp.maximum(xp.asarray(size) - 1, 0)
        if mode == "edge":
            place = xp.clip(place, 0, last)
        elif mode == "wrap":
            place = place % (last + 1)
        elif mode == "reflect":
            away = xp.abs(place) % xp.maximum(2 * last, 1)
            place = xp.where(away > last, 2 * last - away, away)
        x = taken(xp, x, along, place)
        if mode == "constant":
            outside = xp.reshape(outside, (-1, *(1,) * (x.ndim - 1 - along)))
            x = xp.where(outside, number, x)
    return x


def _least(pair: Extents, mode: str) -> int:
    """The least size that can be padded so: what is cut off is there, and what is copied is."""
    cut = sum(-size for size in pair if isinstance(size, int) and size < 0)
    copies = mode != "constant" and any(isinstance(s, str) or s > 0 for s in pair)
    return cut + (1 if copies else 0)


def _longer(name: str, pair: Extents) -> str:
    named = [size for size in pair if isinstance(size, str)]
    return shift("+".join([name, *named]), sum(size for size in pair if isinstance(size, int)))


@operator(Traits(padding=Padding(("after*",), {"n": "anything"})))
def reverse(*, axis: int = 0) -> Rule:
    """The other way round along an axis.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> reverse(x : f32 [n,3])
    f32 [n,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    return f"t {at(axis, 'n', tail='after')} -> t {at(axis, 'n', tail='after')}"


@reverse.means
def _(xp: Arrays, x: Array, axis: int) -> Array:
    return xp.flip(x, axis=axis)


@reverse.padded
def _(xp: Arrays, true: TrueSizes, x: Array, axis: int) -> Array:
    axis %= x.ndim
    place = xp.arange(x.shape[axis], dtype=xp.element("i64"))
    return taken(xp, x, axis, true.of(0)[axis] - 1 - place)


@operator(Traits(padding=Padding(("after*",), {"n": "anything"})))
def roll(*, by: int, axis: int = 0) -> Rule:
    """Move the rows along an axis; those that fall off one end come in at the other.

    - `by`: how many places to move.
    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> roll(x : f32 [n,3], by=1)
    f32 [n,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    return f"t {at(axis, 'n', tail='after')} -> t {at(axis, 'n', tail='after')}"


@roll.means
def _(xp: Arrays, x: Array, by: int, axis: int) -> Array:
    return xp.roll(x, by, axis=axis)


@roll.padded
def _(xp: Arrays, true: TrueSizes, x: Array, by: int, axis: int) -> Array:
    axis %= x.ndim
    place = xp.arange(x.shape[axis], dtype=xp.element("i64"))
    return taken(xp, x, axis, (place - by) % xp.maximum(true.of(0)[axis], 1))
