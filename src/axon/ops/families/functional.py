"""Operators that take functions: over the rows of a tensor, side by side or one after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axon.ops.arrays import Array, Arrays, Value, wide
from axon.ops.axes import at, bad_axes, place
from axon.ops.operator import Ints, Problem, Rule, operator
from axon.ops.padding import TrueSizes, standing
from axon.ops.states import bad_state, state_type
from axon.ops.traits import ArrayReduction, Calls, Fill, Padding, Traits


@operator(Traits(calls=Calls.EACH_ROW), roles={"d": "outermost sizes"})
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


@map.means
def _(
    xp: Arrays,
    function: Callable[..., Value],
    *tensors: Array,
    like: Callable[[], Value] | None = None,
) -> Value:
    return xp.map(function, *tensors, like=like)


@operator(Traits(padding=Padding(("after*",), {"d": "anything"})))
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


@reduce.means
def _(xp: Arrays, function: Combine, start: Array, x: Array, axis: int, keep: bool) -> Array:
    rows = xp.moveaxis(x, axis, 0)
    total = _by_array_reduction(xp, function, start, rows)
    if total is None:
        combine = _combine(xp, function)
        begin = xp.broadcast_to(start, rows.shape[1:])
        total, _ = xp.loop(begin, lambda state, row: (combine(state, row), ()), rows)
    return xp.expand_dims(total, axis) if keep else total


Combine = Callable[[Array, Array], Array]


def _combine(xp: Arrays, function: Combine) -> Combine:
    """A scalar function on whole arrays of one shape, element by element.

    Who calls an operator with a function may say more about it by attributes of the callable:
    `array_reduction` is that of the operator, if it is one and nothing else (`_direct` looks at
    that), and `elementwise` is true if arrays can be put in the place of scalars, as in one made of
    operators that broadcast. Any other function is called once for each element.
    """
    if getattr(function, "elementwise", False):
        return lambda a, b: xp.broadcast_to(function(a, b), a.shape)

    def each(a: Array, b: Array) -> Array:
        if a.ndim == 0:
            return function(a, b)
        if 0 in a.shape:
            return a
        return xp.reshape(xp.map(function, xp.reshape(a, (-1,)), xp.reshape(b, (-1,))), a.shape)

    return each


def _by_array_reduction(xp: Arrays, function: Combine, start: Array, rows: Array) -> Array | None:
    """The rows combined by a reduction that arrays have, if there is one."""
    if rows.shape[0] == 0:
        return xp.broadcast_to(start, rows.shape[1:])
    y = wide(xp, rows)
    reduction: ArrayReduction = getattr(function, "array_reduction", "")
    match reduction:
        case "sum":
            return xp.astype(wide(xp, start) + xp.sum(y, axis=0, dtype=y.dtype), rows.dtype)
        case "prod":
            return xp.astype(wide(xp, start) * xp.prod(y, axis=0, dtype=y.dtype), rows.dtype)
        case "max":
            return xp.maximum(start, xp.max(rows, axis=0))
        case "min":
            return xp.minimum(start, xp.min(rows, axis=0))
        case "all":
            return xp.logical_and(start, xp.all(rows, axis=0))
        case "any":
            return xp.logical_or(start, xp.any(rows, axis=0))
        case "":
            return None


@reduce.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    function: Combine,
    start: Array,
    x: Array,
    axis: int,
    keep: bool,
) -> Array:
    rows = xp.moveaxis(_neutral(xp, true, function, x), axis, 0)
    total = _by_array_reduction(xp, function, start, rows)
    if total is None:
        begin = xp.broadcast_to(start, rows.shape[1:])
        places = xp.arange(rows.shape[0], dtype=xp.element("i64"))
        step = _true_step(xp, function, true.of(2)[axis])
        total, _ = xp.loop(begin, lambda *args: (step(*args), ()), rows, places)
    return xp.expand_dims(total, axis) if keep else total


def _neutral(xp: Arrays, true: TrueSizes, function: Combine, x: Array) -> Array:
    """What changes nothing in the padding, if the function is a reduction that arrays have."""
    neutral: dict[str, Fill] = {
        "sum": "zero", "prod": "one", "max": "lowest", "min": "highest", "all": "true",
        "any": "false", "": "zero",
    }  # fmt: skip
    fill = neutral[getattr(function, "array_reduction", "")]
    inside = true.mask(xp, 2, range(x.ndim))
    return x if inside is None else xp.where(inside, x, standing(xp, x.dtype, fill))


def _true_step(xp: Arrays, function: Combine, size: Any) -> Callable[[Array, Array, Array], Array]:
    """A step of a reduction that changes nothing for a row that is not a true one, nor what is
    derived."""
    combine = _combine(xp, function)

    def step(state: Array, row: Array, place: Array) -> Array:
        given = xp.where(place < size, state, xp.stop_gradient(state))
        return xp.where(place < size, combine(given, row), state)

    return step


@operator(Traits(intermediate=True, padding=Padding(("after*",), {"d": "anything"})))
def scan(*, axis: int = 0) -> Rule:
    """Like `reduce`, but give every intermediate result: the first is the start combined with the
    first element. Of a tuple or a record of tensors, the function combines whole rows: two
    structures of the form of the start.

    - `axis`: which one; the outermost if not given. Negative axes count from the back. Rows of a
      structure are along the outermost.

    >>> scan(+, 0f, x : f32 [n,3])
    f32 [n,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    whole = at(axis, "d", tail="after")
    return f"((t [], t []) -> t [], t [], t {whole}) -> t {whole}"


@scan.means
def _(xp: Arrays, function: Combine, start: Array, x: Array, axis: int) -> Array:
    if x.shape[axis] == 0:
        return x
    y, reduction = wide(xp, x), getattr(function, "array_reduction", "")
    if reduction == "sum":
        return xp.astype(wide(xp, start) + xp.cumsum(y, axis=axis, dtype=y.dtype), x.dtype)
    if reduction == "prod":
        return xp.astype(wide(xp, start) * xp.cumprod(y, axis=axis, dtype=y.dtype), x.dtype)
    combine = _combine(xp, function)

    def step(state: Array, row: Array) -> tuple[Array, Array]:
        state = combine(state, row)
        return state, state

    rows = xp.moveaxis(x, axis, 0)
    _, results = xp.loop(xp.broadcast_to(start, rows.shape[1:]), step, rows)
    return xp.moveaxis(results, 0, axis)


@scan.padded
def _(xp: Arrays, true: TrueSizes, function: Combine, start: Array, x: Array, axis: int) -> Array:
    y = _neutral(xp, true, function, x)
    if getattr(function, "array_reduction", "") in ("sum", "prod"):
        return scan.meaning(xp, function, start, y, axis=axis) if scan.meaning else y
    step = _true_step(xp, function, true.of(2)[axis])

    def each(state: Array, row: Array, place: Array) -> tuple[Array, Array]:
        state = step(state, row, place)
        return state, state

    rows = xp.moveaxis(y, axis, 0)
    places = xp.arange(rows.shape[0], dtype=xp.element("i64"))
    _, results = xp.loop(xp.broadcast_to(start, rows.shape[1:]), each, rows, places)
    return xp.moveaxis(results, 0, axis)


@operator(
    Traits(calls=Calls.STATE_AND_OUTPUT),
    roles={"n": "outermost sizes"},
    hints={2: "the function returns the state and a row of the output: `state, row`"},
)
def loop(arity: int, *, outputs: int = 1, differ: Ints = (), parts: int = 1) -> Rule:
    """Go through the rows of a tensor (or of several, side by side) with a state, which may be a
    tuple.

    The function takes the state and a row, and returns the next state and a row of the output. The
    result is the last state and all the output rows.

    - `outputs`: how many outputs there are. Two or more are a tuple of rows, and become a tuple of
      tensors.
    - `differ`: axes of the state along which its size may change from one iteration to the next,
      as in `fold`.
    - `parts`: how many parts the state has, if it is a tuple and some of them change.

    >>> loop(h : f32 [4], fn (h, y) { h + y, h * y }, x : f32 [n,4])
    (f32 [4], f32 [n,4])
    >>> loop(h : f32 [4], fn (h, y) { h + y, (h * y, sum(y)) }, x : f32 [n,4], outputs=2)
    (f32 [4], (f32 [n,4], f32 [n]))
    """
    if arity < 3:
        return Problem("loop takes a state, a function and at least one tensor")
    if outputs < 1:
        return Problem("loop has at least one output; a loop without output is a fold")
    if outputs > MOST_OUTPUTS:
        return Problem(f"a loop has at most {MOST_OUTPUTS} outputs")
    if problem := bad_state(differ, parts):
        return problem
    rows, tensors = _rows(arity - 2)
    row, stacked = _outputs(outputs, "n")
    first, given, made, last = (state_type(name, differ, parts) for name in ("n", "?k", "m", "?l"))
    return f"({first}, ({given}, {rows}) -> ({made}, {row}), {tensors}) -> ({last}, {stacked})"


MOST_OUTPUTS = 256


def _rows(count: int) -> tuple[str, str]:
    """The types of a row of each of some tensors, and of the tensors."""
    if count == 1:
        return "t s", "t [n]@s"
    each = range(1, count + 1)
    return ", ".join(f"t{i} s{i}" for i in each), ", ".join(f"t{i} [n]@s{i}" for i in each)


def _outputs(count: int, size: str) -> tuple[str, str]:
    """The type of a row of some outputs, and of so many such rows."""
    if count == 1:
        return "u r", f"u [{size}]@r"
    each = range(1, count + 1)
    row = ", ".join(f"u{i} r{i}" for i in each)
    return f"({row})", f"({', '.join(f'u{i} [{size}]@r{i}' for i in each)})"


@loop.means
def _(
    xp: Arrays,
    state: Value,
    function: Callable[..., tuple[Value, Value]],
    *tensors: Array,
    outputs: int,
    differ: Ints,
    parts: int,
    like: Callable[[], Value] | None = None,
) -> tuple[Value, Value]:
    return xp.loop(state, function, *tensors, like=like)


@operator(Traits(calls=Calls.STATE), roles={"n": "outermost sizes"})
def fold(arity: int, *, differ: Ints = (), parts: int = 1) -> Rule:
    """Go through the rows of a tensor (or of several, side by side) with a state, and give the last
    state; a `loop` without output.

    - `differ`: axes of the state along which its size may change from one iteration to the next;
      its last one is known at run time. Of a state that is a tuple: pairs of a part and an axis of
      that part.
    - `parts`: how many parts the state has, if it is a tuple and some of them change.

    >>> fold(h : f32 [2], fn (h, y) { h * reduce(+, 0f, y) }, x : f32 [n,4])
    f32 [2]
    >>> fold(h : f32 [2], fn (h, a, b) { h * a + b }, x : f32 [n], y : f32 [n,2])
    f32 [2]
    >>> fold(h : f32 [k], fn (h, y) { concat(h, h + y) }, x : f32 [n], differ=0)
    f32 [?a]
    >>> fold((h : f32 [k], 0f), fn (s, y) { h, t = s; concat(h, h), t + y }, x : f32 [n],
    ...     differ=[0,0], parts=2)
    (f32 [?a], f32)
    """
    if arity < 3:
        return Problem("fold takes a state, a function and at least one tensor")
    if problem := bad_state(differ, parts):
        return problem
    rows, tensors = _rows(arity - 2)
    first, given, made, last = (state_type(name, differ, parts) for name in ("n", "?k", "m", "?l"))
    return f"({first}, ({given}, {rows}) -> {made}, {tensors}) -> {last}"


@fold.means
def _(
    xp: Arrays,
    state: Value,
    function: Callable[..., Value],
    *tensors: Array,
    differ: Ints,
    parts: int,
) -> Value:
    return xp.loop(state, lambda state, *row: (function(state, *row), ()), *tensors, like=tuple)[0]


# --- what values decide ----------------------------------------------------------------------


@operator(Traits(calls=Calls.BRANCH))
def cond(*, differ: Ints = (), ranks: bool = False) -> Rule:
    """Do one thing if a condition holds, and otherwise another: only the function that is chosen is
    called. Both take nothing, may use what is around them, and give the same type.

    - `differ`: axes of a tensor along which the two may give different sizes. Which it is is known
      at run time.
    - `ranks`: whether the two may give tensors of different ranks.

    >>> cond(mean(x : f32 [n]) > 0.0, fn () { x }, fn () { -x })
    f32 [n]
    >>> cond(mean(x : f32 [n,4]) > 0.0, fn () { concat(x, x) }, fn () { x }, differ=0)
    f32 [?a,4]
    >>> cond(mean(x : f32 [n,4]) > 0.0, fn () { x }, fn () { max(x, axis=1) }, ranks=true)
    f32 ?a
    """
    if ranks:
        if differ:
            return Problem("cond with ranks=true returns any shape, along all axes")
        return "(bool [], () -> t p, () -> t q) -> t ?r"
    if not differ:
        return "(bool [], () -> a, () -> a) -> a"
    if problem := bad_axes(differ):
        return problem
    one, other, either = (
        place(differ, [f"{name}{i}" for i, _ in enumerate(differ)], tail="rest")
        for name in ("n", "m", "?k")
    )
    return f"(bool [], () -> t {one}, () -> t {other}) -> t {either}"


@cond.means
def _(
    xp: Arrays,
    condition: Array,
    then: Callable[[], Value],
    otherwise: Callable[[], Value],
    differ: Ints,
    ranks: bool,
) -> Value:
    return xp.cond(condition, then, otherwise)


@operator(Traits(calls=Calls.WHILE))
def iterate(*, outputs: int = 0, differ: Ints = (), parts: int = 1) -> Rule:
    """Go on from state to state while a condition holds. The first function is the condition, the
    second returns the next state; the result is the first state of which it does not hold. A
    state may be a tuple.

    - `outputs`: how many outputs each step has, besides the state. How many rows they have in the
      end is known at run time.
    - `differ`: axes of the state along which its size may change from step to step, as in `fold`.
    - `parts`: how many parts the state has, if it is a tuple and some of them change.

    >>> iterate(x : f32 [n], fn (x) { max(x) > 1.0 }, fn (x) { x / 2.0 })
    f32 [n]
    >>> iterate(x : f32 [n], fn (x) { max(x) > 1.0 }, fn (x) { x / 2.0, max(x) }, outputs=1)
    (f32 [n], f32 [?a])
    >>> iterate(x : f32 [n], fn (x) { sum(x) < 9.0 }, fn (x) { concat(x, ones([4])) }, differ=0)
    f32 [?a]
    """
    if not 0 <= outputs <= MOST_OUTPUTS:
        return Problem(f"iterate has from 0 to {MOST_OUTPUTS} outputs")
    if problem := bad_state(differ, parts):
        return problem
    first, seen, given, made, last = (
        state_type(name, differ, parts) for name in ("n", "?j", "?k", "m", "?l")
    )
    if outputs == 0:
        return f"({first}, ({seen}) -> bool [], ({given}) -> {made}) -> {last}"
    row, stacked = _outputs(outputs, "?n")
    return f"({first}, ({seen}) -> bool [], ({given}) -> ({made}, {row})) -> ({last}, {stacked})"


@iterate.means
def _(
    xp: Arrays,
    state: Value,
    condition: Callable[[Value], Array],
    function: Callable[[Value], Value],
    outputs: int,
    differ: Ints,
    parts: int,
) -> Value:
    if outputs:
        return xp.collect(state, condition, function)
    return xp.iterate(state, condition, function)
