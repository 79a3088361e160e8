"""Choosing, converting and making tensors; shapes as values."""

from __future__ import annotations

from typing import Any

from axon.ops.arrays import Array, Arrays, Value, to_integers, wide
from axon.ops.axes import at, bad_axes
from axon.ops.operator import Element, Ints, Problem, Rule, operator
from axon.ops.padding import TrueSizes
from axon.ops.traits import POINTWISE, Padding, RowRule, Traits


@operator(Traits(passes_through=True))
def identity() -> Rule:
    """The argument itself, whatever it is.

    >>> identity(x : f32 [n,3])
    f32 [n,3]
    """
    return "a -> a"


@identity.means
def _(xp: Arrays, x: Value) -> Value:
    return x


@operator(POINTWISE)
def where() -> Rule:
    """Elements of the second where the first is true, else of the third. The shapes broadcast.

    >>> where(c : bool [n,3], x : f32 [3], y : f32)
    f32 [n,3]
    """
    return "(bool p, t q, t r) -> t broadcast(p,q,r)"


@where.means
def _(xp: Arrays, condition: Array, x: Array, y: Array) -> Array:
    return xp.where(condition, x, y)


@operator(POINTWISE)
def cast(*, to: Element) -> Rule:
    """The same elements as another element type.

    - `to`: the element type.

    >>> cast(x : i64 [n,3], to=f32)
    f32 [n,3]
    """
    given = "t" if to != "t" else "u"
    return f"{given} s -> {to} s"


@cast.means
def _(xp: Arrays, x: Array, to: Element) -> Array:
    return _cast(xp, x, xp.element(to))


def _cast(xp: Arrays, x: Array, dtype: Any) -> Array:
    if xp.kind(dtype) in "iu" and xp.kind(x.dtype) not in "iub":
        return to_integers(xp, wide(xp, x), dtype)
    return xp.astype(x, dtype)


@operator(Traits(padding=Padding(("s",), reduced="anything")))
def cast_like() -> Rule:
    """The same elements as the element type that another tensor has.

    >>> cast_like(x : i64 [n,3], y : f16 [2])
    f16 [n,3]
    """
    return "(t s, u r) -> u s"


@cast_like.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return _cast(xp, x, y.dtype)


# --- sizes as values -------------------------------------------------------------------------


@operator()
def shape() -> Rule:
    """The shape of a tensor, which can be given where an operator takes one.

    >>> broadcast_to(y : f32, shape(x : f32 [n,3]))
    f32 [n,3]
    """
    return "t s -> shape s"


@operator(Traits(counts_elements=True))
def size(*, axis: int | None = None) -> Rule:
    """How many elements a tensor has, or how many rows along an axis.

    - `axis`: which one. Negative axes count from the back.

    >>> range(size(x : f32 [n,3]))
    i64 [3*n]
    >>> range(size(x : f32 [n,3], axis=0))
    i64 [n]
    """
    if axis is None:
        return "t s -> dim size(s)"
    return bad_axes((axis,)) or f"t {at(axis, 'n')} -> dim n"


@operator()
def rank() -> Rule:
    """How many dimensions a tensor has.

    >>> range(rank(x : f32 [n,3]))
    i64 [2]
    """
    return "t s -> dim rank(s)"


# --- making tensors --------------------------------------------------------------------------


@operator(Traits(padding=Padding(made=("n", "b", "~*"), sizes=("a",))))
def range(arity: int, *, step: int = 1, to: Element = "i64") -> Rule:
    """The integers from 0, or from the first argument, up to and without the last.

    - `step`: the distance from one to the next, at least 1.
    - `to`: the element type.

    >>> range(5)
    i64 [5]
    >>> range(2, 9, step=3)
    i64 [3]
    """
    if step < 1:
        return Problem("step must be at least 1; `reverse` turns a range round")
    if arity not in (1, 2):
        return Problem(f"range takes a stop, or a start and a stop; {arity} arguments are given")
    params, count = ("dim n", "n") if arity == 1 else ("dim a, dim b", "max(b-a,0)")
    if step > 1:
        count = f"({count}+{step - 1})/{step}"
    return f"({params}) -> {to} [{count}]"


@range.means
def _(xp: Arrays, *bounds: int, step: int, to: Element) -> Array:
    start, stop = bounds if len(bounds) == 2 else (0, *bounds)
    return xp.astype(xp.arange(start, stop, step, dtype=xp.element("i64")), xp.element(to))


@range.padded
def _(xp: Arrays, true: TrueSizes, *bounds: int, step: int, to: Element) -> Array:
    """It begins where it truly does; how far it reaches follows from the type."""
    start, stop = bounds if len(bounds) == 2 else (0, *bounds)
    first = true.size(0) if len(bounds) == 2 else 0
    places = xp.arange(0, stop - start, step, dtype=xp.element("i64"))
    return xp.astype(first + places, xp.element(to))


@operator(Traits(rows=RowRule.FILLED_SHAPE, padding=Padding(made=("*",))))
def zeros(*, to: Element = "f32") -> Rule:
    """Zeros, in a shape.

    - `to`: the element type.

    >>> zeros([2,3])
    f32 [2,3]
    """
    return f"shape s -> {to} s"


@zeros.means
def _(xp: Arrays, shape: Ints, to: Element) -> Array:
    return xp.zeros(shape, dtype=xp.element(to))


@operator(Traits(rows=RowRule.FILLED_SHAPE, padding=Padding(made=("*",))))
def ones(*, to: Element = "f32") -> Rule:
    """Ones, in a shape.

    - `to`: the element type.

    >>> ones([2,3], to=i32)
    i32 [2,3]
    """
    return f"shape s -> {to} s"


@ones.means
def _(xp: Arrays, shape: Ints, to: Element) -> Array:
    return xp.ones(shape, dtype=xp.element(to))


@operator(Traits(rows=RowRule.FILLED_SHAPE, padding=Padding(made=("*",))))
def full() -> Rule:
    """A shape filled with one value.

    >>> full([2,3], x : f32)
    f32 [2,3]
    """
    return "(shape s, t []) -> t s"


@full.means
def _(xp: Arrays, shape: Ints, value: Array) -> Array:
    return xp.broadcast_to(value, shape)


@operator()
def zeros_like() -> Rule:
    """Zeros, in the shape and the element type of a tensor.

    >>> zeros_like(x : f64 [n,3])
    f64 [n,3]
    """
    return "t s -> t s"


@zeros_like.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.zeros_like(x)


@operator()
def ones_like() -> Rule:
    """Ones, in the shape and the element type of a tensor.

    >>> ones_like(x : i32 [n])
    i32 [n]
    """
    return "t s -> t s"


@ones_like.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.ones_like(x)


@operator(Traits(padding=Padding(made=("n",))))
def eye(*, to: Element = "f32") -> Rule:
    """A square matrix with ones on its diagonal and zeros elsewhere.

    - `to`: the element type.

    >>> eye(3)
    f32 [3,3]
    """
    return f"dim n -> {to} [n,n]"


@eye.means
def _(xp: Arrays, n: int, to: Element) -> Array:
    return xp.eye(n, dtype=xp.element(to))
