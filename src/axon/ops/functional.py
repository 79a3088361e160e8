"""Operators that take functions: over the rows of a tensor, side by side or one after another."""

from __future__ import annotations

from axon.ops.axes import at, bad_axes
from axon.ops.operator import Problem, Rule, operator


@operator(roles={"d": "outermost sizes"})
def map(arity: int) -> Rule:
    """Apply a function to each row of a tensor (or to the rows of several, side by side) and stack
    the results.

    >>> map(fn (row) { row + 1f }, x : f32 [n,3])
    f32 [n,3]
    >>> map(dot, x : f32 [5,3], y : f32 [5,3])
    f32 [5]
    """
    if arity < 2:
        return Problem("map takes a function and at least one tensor")
    if arity == 2:
        return "((t s) -> u r, t [d]@s) -> u [d]@r"
    each = range(1, arity)
    rows = ", ".join(f"t{i} s{i}" for i in each)
    tensors = ", ".join(f"t{i} [d]@s{i}" for i in each)
    return f"(({rows}) -> u r, {tensors}) -> u [d]@r"


@operator()
def reduce(*, axis: int = 0, keep: bool = False) -> Rule:
    """Combine the elements along an axis by a scalar function, beginning with a scalar; the axis
    goes.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.
    - `keep`: leave the axis there with size 1.

    >>> reduce(+, 0f, x : f32 [n,3])
    f32 [3]
    >>> reduce(max, -inf, x : f32 [b,n], axis=-1, keep=true)
    f32 [b,1]
    """
    if problem := bad_axes((axis,)):
        return problem
    whole = at(axis, "d", tail="after")
    rest = at(axis, "1" if keep else "", tail="after")
    return f"((t [], t []) -> t [], t [], t {whole}) -> t {rest}"


@operator()
def scan(*, axis: int = 0) -> Rule:
    """Like `reduce`, but give every intermediate result: the first is the start combined with the
    first element.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> scan(+, 0f, x : f32 [n,3])
    f32 [n,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    whole = at(axis, "d", tail="after")
    return f"((t [], t []) -> t [], t [], t {whole}) -> t {whole}"


@operator(roles={"n": "outermost sizes"})
def loop(arity: int) -> Rule:
    """Go through the rows of a tensor (or of several, side by side) with a state, which may be a
    tuple.

    The function takes the state and a row, and gives the next state and a row of the output. The
    result is the last state and all the output rows.

    >>> loop(h : f32 [4], fn (h, y) { h + y, h * y }, x : f32 [n,4])
    (f32 [4], f32 [n,4])
    """
    if arity < 3:
        return Problem("loop takes a state, a function and at least one tensor")
    if arity == 3:
        return "(state, (state, t s) -> (state, u r), t [n]@s) -> (state, u [n]@r)"
    each = range(1, arity - 1)
    rows = ", ".join(f"t{i} s{i}" for i in each)
    tensors = ", ".join(f"t{i} [n]@s{i}" for i in each)
    return f"(state, (state, {rows}) -> (state, u r), {tensors}) -> (state, u [n]@r)"


@operator()
def fold() -> Rule:
    """Go through the rows of a tensor with a state, and give the last state; a `loop` without
    output.

    >>> fold(h : f32 [2], fn (h, y) { h * reduce(+, 0f, y) }, x : f32 [n,4])
    f32 [2]
    """
    return "(state, (state, t s) -> state, t [n]@s) -> state"
