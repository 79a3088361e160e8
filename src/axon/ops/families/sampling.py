"""Images looked at from elsewhere: grids of places, and filters that look aside.

A place is a float for each spatial dimension; the value there is blended from the elements around.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from axon.ops.arrays import Array, Arrays, to_integers, wide
from axon.ops.axes import dims
from axon.ops.interpolate import cubic_curve
from axon.ops.operator import Extent, Ints, Problem, Rule, Windowed, operator
from axon.ops.padding import Number, TrueSizes
from axon.ops.sliding import MOST, places, reaches, sides_of, slides_of
from axon.ops.traits import Padding, Traits

# --- what stands at a place ------------------------------------------------------------------


def _pick(
    xp: Arrays, x: Array, numbers: Sequence[Array], sizes: Sequence[Number] | None = None
) -> Array:
    """The elements of `[n, c]@sizes` at whole places `[n, p]`, one array for each dimension; a
    place outside is brought in. Where the array is padded, `sizes` are the true ones.
    """
    wholes = x.shape[2:]
    flat = xp.zeros((1, 1), dtype=xp.element("i64"))
    for whole, size, number in zip(wholes, sizes or wholes, numbers, strict=True):
        flat = flat * whole + xp.clip(number, 0, size - 1)
    rows = xp.reshape(x, (*x.shape[:2], math.prod(wholes)))
    index = xp.broadcast_to(flat[:, None, :], (*x.shape[:2], flat.shape[1]))
    return xp.take_along_axis(rows, index, axis=2)


def _in_bounds(xp: Arrays, sizes: Sequence[Number], numbers: Sequence[Array]) -> Array:
    """Which whole places are some of the input's."""
    seen = xp.ones((1, 1), dtype=bool)
    for size, number in zip(sizes, numbers, strict=True):
        seen = seen & (number >= 0) & (number < size)
    return seen


def _linear(xp: Arrays, x: Array, where: Sequence[Array]) -> Array:
    """What stands at places `[n, p]` of `[n, c]@sizes`, where all is zero outside."""
    i64 = xp.element("i64")
    total = xp.zeros((), dtype=x.dtype)
    for corner in itertools.product((0, 1), repeat=len(where)):
        numbers = [xp.floor(at) + side for at, side in zip(where, corner, strict=True)]
        weight = xp.ones((1, 1), dtype=x.dtype)
        for at, number in zip(where, numbers, strict=True):
            weight = weight * xp.astype(1 - xp.abs(at - number), x.dtype)
        seen = _pick(xp, x, [to_integers(xp, n, i64) for n in numbers]) * weight[:, None, :]
        inside = _in_bounds(xp, x.shape[2:], numbers)[:, None, :]
        total = total + xp.where(inside, seen, xp.zeros_like(seen))
    return total


def _floats(xp: Arrays, x: Array) -> Array:
    """To compute with."""
    return xp.astype(x, xp.element("f32")) if xp.kind(x.dtype) in "iub" else wide(xp, x)


# --- grids -----------------------------------------------------------------------------------

PADDINGS = ("zeros", "border", "reflection")


@operator(Traits(padding=Padding(("n", "c", "y*"), {"x*": "anything"})), roles={"n": "batch sizes"})
def grid_sample(
    *,
    mode: str = "linear",
    padding: str = "zeros",
    align_corners: bool = False,
    spatial: int | None = None,
) -> Rule:
    """The values at the places of a grid in `x : [n,c,h,w]`. The grid `[n,a,b,2]` has a
    place for each element of the result, the innermost spatial dimension first, from -1 at one end
    to 1 at the other.

    - `mode`: "nearest", "linear" or "cubic".
    - `padding`: what is outside: "zeros", "border" (the element at the edge), or "reflection".
    - `align_corners`: whether the ends are the middles of the outermost elements, or their edges.

    >>> grid_sample(x : f32 [n,c,h,w], grid : f32 [n,a,b,2])
    f32 [n,c,a,b]
    """
    if mode not in ("nearest", "linear", "cubic"):
        return Problem(f'mode is "{mode}"; it can be "nearest", "linear" or "cubic"')
    if padding not in PADDINGS:
        return Problem(f'padding is "{padding}"; it can be "zeros", "border" or "reflection"')
    count = 2 if spatial is None else spatial
    if not 1 <= count <= MOST:
        return Problem(f"there must be from 1 to {MOST} spatial dimensions, not {count}")
    before = [f"x{i}" for i in range(1, count + 1)]
    after = [f"y{i}" for i in range(1, count + 1)]
    grid = dims(["n", *after, str(count)])
    return (
        f"(t {dims(['n', 'c', *before])}, u {grid}) -> t {dims(['n', 'c', *after])} where u : float"
    )


@grid_sample.means
def _(xp: Arrays, x: Array, grid: Array, mode: str, padding: str, align_corners: bool) -> Array:
    return _sampled(xp, x, grid, x.shape[2:], mode, padding, align_corners)


@grid_sample.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    grid: Array,
    mode: str,
    padding: str,
    align_corners: bool,
) -> Array:
    return _sampled(xp, x, grid, true.of(0)[2:], mode, padding, align_corners)


def _sampled(
    xp: Arrays,
    x: Array,
    grid: Array,
    sizes: Sequence[Number],
    mode: str,
    padding: str,
    align_corners: bool,
) -> Array:
    """What stands at the places of the grid in images of these sizes, if they are padded."""
    shape = grid.shape[1:-1]
    if 0 in (*x.shape, *grid.shape):
        return xp.zeros((*x.shape[:2], *shape), dtype=x.dtype)
    flat = xp.reshape(wide(xp, grid), (grid.shape[0], -1, len(sizes)))
    where = [
        _looked_at(xp, flat[..., len(sizes) - 1 - i], size, mode, padding, align_corners)
        for i, size in enumerate(sizes)
    ]
    y, found = _floats(xp, x), xp.zeros((), dtype=_floats(xp, x).dtype)
    reach = {"nearest": (0,), "linear": (0, 1), "cubic": (-1, 0, 1, 2)}[mode]
    for corner in itertools.product(reach, repeat=len(sizes)):
        weight, numbers = xp.ones((1, 1), dtype=y.dtype), []
        for at, side in zip(where, corner, strict=True):
            number = xp.floor(at) + side
            numbers.append(number)
            if mode == "linear":
                weight = weight * xp.astype(1 - xp.abs(at - number), y.dtype)
            elif mode == "cubic":
                weight = weight * xp.astype(cubic_curve(xp, xp.abs(at - number)), y.dtype)
        index = [
            _brought_in(
                xp, to_integers(xp, number, xp.element("i64")), size, padding, align_corners
            )
            for number, size in zip(numbers, sizes, strict=True)
        ]
        seen = _pick(xp, y, index, sizes) * weight[:, None, :]
        if padding == "zeros":  # what is outside counts for nothing, whatever stands at the edge
            inside = _in_bounds(xp, sizes, numbers)[:, None, :]
            seen = xp.where(inside, seen, xp.zeros_like(seen))
        found = found + seen
    return xp.astype(xp.reshape(found, (*x.shape[:2], *shape)), x.dtype)


def _looked_at(
    xp: Arrays, at: Array, size: Number, mode: str, padding: str, align_corners: bool
) -> Array:
    """A place along one dimension, counted in elements."""
    if not isinstance(size, int):
        size = xp.astype(size, at.dtype)
    where = (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2
    if mode == "nearest":
        where = xp.round(where)
    low, high = (0, size - 1) if align_corners else (-0.5, size - 0.5)
    outside = (where < low) | (where > high)
    if padding == "border" and mode == "cubic":  # its elements are brought in one by one
        return xp.clip(where, -3, size + 2)  # beyond, all of them are the one at the edge
    if padding == "border":
        return xp.where(outside, xp.clip(where, 0, size - 1), where)
    if padding == "reflection":
        return xp.where(outside, _reflected(xp, where, low, high), where)
    far = 1e9  # nothing is there, and integers can count it
    return xp.clip(xp.where(xp.isfinite(where), where, far), -far, far)


def _reflected(xp: Arrays, where: Array, low: float, high: Number) -> Array:
    """Thrown back at both ends, again and again."""
    length = high - low
    if isinstance(length, int | float) and length <= 0:
        return where * 0 + low
    away = (where - low) % (2 * length)
    return low + xp.where(away > length, 2 * length - away, away)


def _brought_in(
    xp: Arrays, number: Array, size: Number, padding: str, align_corners: bool
) -> Array:
    if padding != "reflection":
        return number
    period = 2 * (size - 1) if align_corners else 2 * size
    if isinstance(period, int) and period == 0:
        return number * 0
    away = number % period
    return xp.minimum(away, (period if align_corners else period - 1) - away)


@operator(Traits(padding=Padding(("n",))))
def affine_grid(*, dimensions: int = 2, align_corners: bool = False) -> Rule:
    """The grid for `grid_sample` that turns, stretches and moves images: a matrix `[n,2,3]` for
    each, applied to the places of all elements of an image of the sizes that follow.

    - `dimensions`: how many spatial dimensions there are.
    - `align_corners`: as for `grid_sample`.

    >>> affine_grid(theta : f32 [n,2,3], [5,8])
    f32 [n,5,8,2]
    """
    if not 1 <= dimensions <= MOST:
        return Problem(f"there must be from 1 to {MOST} spatial dimensions, not {dimensions}")
    sizes = [f"y{i}" for i in range(1, dimensions + 1)]
    theta = f"t [n,{dimensions},{dimensions + 1}]"
    grid = dims(["n", *sizes, str(dimensions)])
    return f"({theta}, shape {dims(sizes)}) -> t {grid} where t : float"


@affine_grid.means
def _(xp: Arrays, theta: Array, sizes: Ints, dimensions: int, align_corners: bool) -> Array:
    matrix = wide(xp, theta)
    ends = [xp.astype(_from_end_to_end(xp, size, align_corners), matrix.dtype) for size in sizes]
    mesh = xp.meshgrid(*ends, indexing="ij")
    ones = xp.ones(tuple(sizes), dtype=matrix.dtype)
    grid = xp.stack([*mesh[::-1], ones], axis=-1)
    return xp.astype(xp.einsum("nij,...j->n...i", matrix, grid), theta.dtype)


def _from_end_to_end(xp: Arrays, size: int, align_corners: bool) -> Array:
    """The places of so many elements, from -1 to 1."""
    number = xp.arange(size, dtype=xp.element("f64"))
    if align_corners:
        return number * (2 / (size - 1)) - 1 if size > 1 else number - 1
    return (2 * number + 1) / max(size, 1) - 1


# --- filters that look aside -----------------------------------------------------------------


DEFORMED = Padding(("n", "k"), reason="each of its channels belongs to a group of offsets")


@operator(Traits(padding=DEFORMED), roles={"c": "channels", "k": "output channels"})
def deform_conv(
    arity: int,
    *,
    stride: Ints = (1,),
    pad: Ints = (0,),
    dilation: Ints = (1,),
    groups: Extent = 1,
    offset_groups: int = 1,
) -> Rule:
    """A convolution whose filters look aside: `x : [n,c,h,w]`, filters `[k,c,r,s]`, offsets
    `[n,2*r*s,a,b]` that state for each place and each element of the filter how far down and across
    it looks, perhaps a bias `[k]`, and perhaps a mask `[n,r*s,a,b]` that weighs what it sees.

    - `stride`, `pad`, `dilation`, `groups`: as for `conv`.
    - `offset_groups`: the number of groups that the channels are cut into, each with offsets of
      its own.

    >>> deform_conv(x : f32 [n,c,5,6], f : f32 [k,c,2,2], offset : f32 [n,8,4,5])
    f32 [n,k,4,5]
    """
    if arity not in (3, 4, 5):
        return Problem(
            "deform_conv takes an input, filters, offsets, perhaps a bias, and perhaps a mask; "
            f"{arity} are given"
        )
    if (isinstance(groups, int) and groups < 1) or offset_groups < 1:
        return Problem("groups must be at least 1")
    sides = sides_of(2, stride, pad, dilation)
    if isinstance(sides, Problem):
        return sides
    c, k = (name if groups == 1 else f"{groups}*{name}" for name in "ck")
    x = dims(["n", c, *(side.input for side in sides)])
    f = dims([k, "c", *(side.window for side in sides)])
    seen = [places(side) for side in sides]
    each = "*".join([str(offset_groups), *(side.window for side in sides)])
    params = [f"t {x}", f"t {f}", f"t {dims(['n', f'2*{each}', *seen])}", f"t [{k}]"]
    params.append(f"t {dims(['n', each, *seen])}")
    return Windowed(
        f"({', '.join(params[:arity])}) -> t {dims(['n', k, *seen])} where t : float",
        reaches(sides),
    )


@deform_conv.means
def _(
    xp: Arrays,
    x: Array,
    f: Array,
    offset: Array,
    *rest: Array,
    stride: Ints,
    pad: Ints,
    dilation: Ints,
    groups: int,
    offset_groups: int,
) -> Array:
    slides = slides_of(x.shape[2:], f.shape[2:], stride, pad, dilation, False)
    batch, channels = x.shape[:2]
    (down, across), window, seen = slides, math.prod(f.shape[2:]), offset.shape[2:]
    count = batch * offset_groups
    if 0 in (*x.shape, *f.shape, *offset.shape):
        return xp.zeros((batch, f.shape[0], *seen), dtype=x.dtype)
    shifts = xp.reshape(wide(xp, offset), (count, *f.shape[2:], 2, *seen))
    rows = _looks(xp, down.window, down.dilation, seen[0], down.stride, down.before)
    columns = _looks(xp, across.window, across.dilation, seen[1], across.stride, across.before)
    where = [
        xp.reshape(rows[:, None, :, None] + shifts[:, :, :, 0], (count, -1)),
        xp.reshape(columns[None, :, None, :] + shifts[:, :, :, 1], (count, -1)),
    ]
    each = xp.reshape(wide(xp, x), (count, channels // offset_groups, *x.shape[2:]))
    found = xp.reshape(_linear(xp, each, where), (*each.shape[:2], window, -1))
    if len(rest) > 1:
        found = found * xp.reshape(wide(xp, rest[1]), (count, 1, window, -1))
    patches = xp.reshape(found, (batch, groups, channels // groups * window, -1))
    filters = xp.reshape(wide(xp, f), (groups, f.shape[0] // groups, -1))
    y = xp.reshape(xp.matmul(filters, patches), (batch, f.shape[0], *seen))
    if rest:
        y = y + wide(xp, rest[0])[:, None, None]
    return xp.astype(y, x.dtype)


def _looks(xp: Arrays, window: int, dilation: int, count: int, stride: int, before: int) -> Array:
    """Where the elements of a filter look along one dimension: `[window, places]`."""
    return xp.astype(
        xp.arange(window)[:, None] * dilation + xp.arange(count)[None, :] * stride - before,
        xp.element("f32"),
    )
