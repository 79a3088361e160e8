"""What the contents of a result are, by the operator of Axon that makes it.

An operator that is not in the table has a result of which no element is known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from axon.importers.contents import arithmetic, moves
from axon.importers.contents import reals as floats
from axon.importers.contents.applied import Applied, SizeFacts
from axon.importers.contents.arithmetic import is_symbol, settled
from axon.importers.contents.reals import Real
from axon.importers.contents.values import MOST_CONTENTS, Contents, scalar, vector
from axon.types import dim as dims
from axon.types.quotient import exact_quotient
from axon.types.type import shape_size
from axon.types.variables import ShapeVar

Followed = Callable[[Applied], Contents | None]
Numbers = Callable[..., Any]
"""A function of elements that are known; it may give None."""


def element_type(parts: list[Contents]) -> str:
    """The element type of what is computed of these."""
    return next((part.elem for part in parts if part.elem), "")


def pointwise(function: Numbers, parts: list[Contents], elem: str) -> Contents | None:
    """A function of elements; where one is not known, nor is the result."""
    shape = moves.broadcast_shape([part.shape for part in parts])
    if shape is None or prod(shape) > MOST_CONTENTS:
        return None
    made: list[Any] = []
    for items in zip(*(_stretched(part, shape) for part in parts), strict=True):
        made.append(None if None in items else settled(elem, function(*items)))
    return Contents(elem, shape, tuple(made))


def _stretched(part: Contents, shape: tuple[int, ...]) -> tuple[Any, ...]:
    found = moves.broadcast(part, shape)
    return () if found is None else found.items


def _arithmetic(function: Numbers) -> Followed:
    """An operator on elements whose result has their type."""

    def follow(applied: Applied) -> Contents | None:
        parts = applied.every()
        return None if parts is None else pointwise(function, parts, element_type(parts))

    return follow


def _truth(function: Numbers) -> Followed:
    """An operator on elements that says whether something holds."""

    def follow(applied: Applied) -> Contents | None:
        parts = applied.every()
        return None if parts is None else pointwise(function, parts, "bool")

    return follow


# --- what depends on whether sizes are negative ------------------------------------------------


def _divide(applied: Applied) -> Contents | None:
    return _quotient(applied, arithmetic.floored)


def _trunc_divide(applied: Applied) -> Contents | None:
    return _quotient(applied, partial(arithmetic.truncated, is_size=applied.scope.is_size))


def _quotient(applied: Applied, divide: Numbers) -> Contents | None:
    """Floats are divided as they are, and integers by the function."""
    parts = applied.every()
    if parts is None:
        return None
    elem = element_type(parts)
    if not elem.startswith(("i", "u")):
        return pointwise(arithmetic.ratio, parts, elem) if elem else None
    if not _is_above_zero(applied.scope, parts[1]):
        divide = partial(_exact, divide)
    return pointwise(divide, parts, elem)


def _exact(divide: Numbers, a: Any, b: Any) -> Any:
    """A quotient by what may be negative, where nothing is left over."""
    return exact_quotient(a, b) if is_symbol(b) else divide(a, b)


def _mod(applied: Applied) -> Contents | None:
    parts = applied.every()
    if parts is None or not _is_above_zero(applied.scope, parts[1]):
        return None
    return pointwise(arithmetic.mod, parts, element_type(parts))


def _is_above_zero(scope: SizeFacts, divisor: Contents) -> bool:
    """Whether the sizes to divide by are not negative; then none of them is 0, or it cannot run."""
    sizes = [item for item in divisor.items if is_symbol(item)]
    if not all(map(scope.is_size, sizes)):
        return False
    for size in sizes:
        scope.guard(dims.sub(size, 1))
    return True


def _equal(applied: Applied) -> Contents | None:
    return _truth(partial(_same, applied.scope))(applied)


def _unequal(applied: Applied) -> Contents | None:
    same = partial(_same, applied.scope)
    return _truth(lambda a, b: arithmetic.opposite(same(a, b)))(applied)


def _same(scope: SizeFacts, a: Any, b: Any) -> Any:
    """Whether two are the same; a size is never negative."""
    for size, other in ((a, b), (b, a)):
        negative = type(other) is int and other < 0
        if negative and is_symbol(size) and scope.is_size(size):
            return False
    return arithmetic.equal(a, b)


def _cast(applied: Applied) -> Contents | None:
    found, to = applied.contents(0), str(applied.attribute("to"))
    return None if found is None else pointwise(partial(_element, applied.scope, to), [found], to)


def _element(scope: SizeFacts, to: str, x: Any) -> Any:
    """One element, cast to the type of that name."""
    if to.startswith(("i", "u")):
        return size_of(scope, x) if isinstance(x, Real) else arithmetic.whole(x)
    if is_symbol(x) or isinstance(x, Real):
        return None if to == "bool" else floats.as_float(x, to)
    return bool(x) if to == "bool" else float(x)


def size_of(scope: SizeFacts, x: Real) -> Any:
    """A float as the integer that it is towards zero. That no rounding has changed it is taken for
    granted, and a run checks it.
    """
    wanted, known = floats.conditions(x), scope.limits
    if wanted is None or len(known) + len(wanted) > floats.MOST_LIMITS:
        return None
    for limit in wanted:
        if not floats.follows(limit, known):
            scope.guard(limit)
            known.append(limit)
    return arithmetic.towards_zero(x.top, x.bottom, scope.is_size)


# --- choosing, reducing ------------------------------------------------------------------------


def _where(applied: Applied) -> Contents | None:
    parts = applied.every()
    if parts is None:
        return None
    shape = moves.broadcast_shape([part.shape for part in parts])
    if shape is None or prod(shape) > MOST_CONTENTS:
        return None
    rows = zip(*(_stretched(part, shape) for part in parts), strict=True)
    items = tuple([arithmetic.choose(*row) for row in rows])
    return Contents(element_type(parts[1:]), shape, items)


def _reduction(function: Numbers, rounds: bool = False) -> Followed:
    """An operator that makes one element of several. If it rounds, floats are not followed: nobody
    says in which order they are taken.
    """

    def follow(applied: Applied) -> Contents | None:
        if len(applied.args) > 1:
            return _arithmetic(function)(applied)
        found = applied.contents(0)
        if found is None:
            return None
        rank = len(found.shape)
        axes = range(rank) if applied.attribute("axis") is None else applied.numbers("axis")
        rows = None if axes is None else moves.rows_along(found, list(axes))
        if axes is None or not rows:
            return None
        if rounds and len(rows) > 1 and any(isinstance(item, float) for item in found.items):
            return None
        total: Contents | None = rows[0]
        for row in rows[1:]:
            total = None if total is None else pointwise(function, [total, row], found.elem)
        if total is None or not applied.attribute("keep"):
            return total
        kept = {axis % rank for axis in axes}
        sizes = [1 if i in kept else size for i, size in enumerate(found.shape)]
        return moves.reshaped(total, tuple(sizes))

    return follow


# --- sizes, and tensors made of them -----------------------------------------------------------


def _identity(applied: Applied) -> Contents | None:
    return applied.contents(0)


def _shape(applied: Applied) -> Contents | None:
    word = applied.shape(0)
    return None if word is None else vector(word, "i64")


def _size(applied: Applied) -> Contents | None:
    word, axis = applied.shape(0), applied.number("axis")
    if word is None or (axis is None and applied.attribute("axis") is not None):
        return None
    if axis is not None and not -len(word) <= axis < len(word):
        return None
    size = shape_size(word) if axis is None else word[axis]
    return None if isinstance(size, ShapeVar) else scalar(size, "i64")


def _rank(applied: Applied) -> Contents | None:
    word = applied.shape(0)
    return None if word is None else scalar(len(word), "i64")


def _range(applied: Applied) -> Contents | None:
    parts, step = applied.every(), applied.number("step")
    bounds = [item for part in parts or () for item in part.items]
    if not bounds or not step or not all(type(bound) is int for bound in bounds):
        return None
    start, stop = bounds if len(bounds) == 2 else (0, bounds[0])
    numbers = range(start, stop, step)
    elem = str(applied.attribute("to"))
    if len(numbers) > MOST_CONTENTS:
        return None
    return pointwise(partial(_element, applied.scope, elem), [vector(numbers)], elem)


def _full(applied: Applied) -> Contents | None:
    sizes, value = applied.sizes(0), applied.contents(1)
    return None if sizes is None or value is None else moves.broadcast(value, sizes)


def _filled_with(number: int) -> Followed:
    """An operator that makes a tensor of one number, in a shape."""

    def follow(applied: Applied) -> Contents | None:
        sizes, elem = applied.sizes(0), str(applied.attribute("to"))
        item = _element(applied.scope, elem, number)
        return None if sizes is None else moves.broadcast(scalar(item, elem), sizes)

    return follow


def _one_hot(applied: Applied) -> Contents | None:
    found, depth, axis = applied.contents(0), applied.number("depth"), applied.number("axis")
    if found is None or depth is None or axis is None:
        return None
    wide, places = moves.expanded(found, [axis]), vector(range(min(depth, MOST_CONTENTS + 1)))
    if wide is None:
        return None
    at = axis % len(wide.shape)
    along = moves.expanded(places, range(1, len(wide.shape) - at))
    hot = None if along is None else pointwise(partial(_same, applied.scope), [wide, along], "bool")
    elem = str(applied.attribute("to"))
    cast = partial(_element, applied.scope, elem)
    return None if hot is None else pointwise(cast, [hot], elem)


# --- moving elements about ---------------------------------------------------------------------


def _concat(applied: Applied) -> Contents | None:
    parts, axis = [applied.contents(i) for i in range(len(applied.args))], applied.number("axis")
    if axis is None or not any(part is not None for part in parts):
        return None
    filled = [_unknown(applied, i) if part is None else part for i, part in enumerate(parts)]
    known = [part for part in filled if part is not None]
    return moves.joined(known, axis) if len(known) == len(parts) else None


def _unknown(applied: Applied, index: int) -> Contents | None:
    """An argument of which no element is known, if its sizes are, and they are small."""
    word = applied.shape(index)
    sizes = None if word is None else tuple([n for n in word if isinstance(n, int)])
    if word is None or sizes is None or len(sizes) < len(word):
        return None
    return moves.broadcast(scalar(None), sizes)


def _stack(applied: Applied) -> Contents | None:
    parts, axis = applied.every(), applied.number("axis")
    if parts is None or axis is None:
        return None
    rows = [moves.expanded(part, [axis]) for part in parts]
    known = [row for row in rows if row is not None]
    return moves.joined(known, axis) if len(known) == len(rows) else None


def _gather(applied: Applied) -> Contents | None:
    parts, axis = applied.every(), applied.number("axis")
    return None if parts is None or axis is None else moves.taken(parts[0], parts[1], axis)


def _index(applied: Applied) -> Contents | None:
    found, row, axis = applied.contents(0), applied.number("i"), applied.number("axis")
    if found is None or row is None or axis is None:
        return None
    return moves.taken(found, scalar(row), axis)


def _slice(applied: Applied) -> Contents | None:
    found, axis = applied.contents(0), applied.number("axis")
    names = ("start", "stop", "step")
    bounds = [applied.attribute(name) for name in names]
    if found is None or axis is None or not bounds[2]:
        return None
    if not all(bound is None or type(bound) is int for bound in bounds):
        return None
    return moves.sliced(found, axis, slice(*bounds))


def _reverse(applied: Applied) -> Contents | None:
    found, axis = applied.contents(0), applied.number("axis")
    if found is None or axis is None:
        return None
    return moves.sliced(found, axis, slice(None, None, -1))


def _reshape(applied: Applied) -> Contents | None:
    found = applied.contents(0)
    sizes = None if found is None else applied.sizes(1)
    return None if found is None or sizes is None else moves.reshaped(found, sizes)


def _flatten(applied: Applied) -> Contents | None:
    found, axis = applied.contents(0), applied.number("axis")
    if found is None:
        return None
    if applied.attribute("axis") is None:
        return moves.reshaped(found, (len(found.items),))
    if axis is None or not -len(found.shape) <= axis <= len(found.shape):
        return None
    at = axis if axis >= 0 else len(found.shape) + axis
    return moves.reshaped(found, (prod(found.shape[:at]), prod(found.shape[at:])))


def _broadcast_to(applied: Applied) -> Contents | None:
    found = applied.contents(0)
    sizes = None if found is None else applied.sizes(1)
    if found is None or sizes is None:
        return None
    whole = moves.broadcast_shape([found.shape, sizes])
    return None if whole is None else moves.broadcast(found, whole)


def _transpose(applied: Applied) -> Contents | None:
    found = applied.contents(0)
    if found is None:
        return None
    perm, rank = applied.numbers("perm"), len(found.shape)
    if applied.attribute("perm") is None:
        perm = [*range(rank - 2), rank - 1, rank - 2]  # the last two change places
    return None if perm is None else moves.transposed(found, perm)


def _by_list(name: str, move: Callable[[Contents, list[int]], Contents | None]) -> Followed:
    """A move by the integers that an attribute lists."""

    def follow(applied: Applied) -> Contents | None:
        found = applied.contents(0)
        listed = None if found is None else applied.numbers(name)
        return None if found is None or listed is None else move(found, listed)

    return follow


CONTENTS: dict[str, Followed] = {
    # arithmetic
    "+": _arithmetic(arithmetic.add),
    "-": _arithmetic(arithmetic.sub),
    "*": _arithmetic(arithmetic.mul),
    "/": _divide,
    "trunc_divide": _trunc_divide,
    "mod": _mod,
    "pow": _arithmetic(arithmetic.power),
    "maximum": _arithmetic(arithmetic.greatest),
    "minimum": _arithmetic(arithmetic.least),
    "negate": _arithmetic(arithmetic.negate),
    "abs": _arithmetic(arithmetic.magnitude),
    "sign": _arithmetic(arithmetic.sign),
    "square": _arithmetic(arithmetic.square),
    "floor": _arithmetic(arithmetic.floor),
    "ceil": _arithmetic(arithmetic.ceil),
    "sqrt": _arithmetic(arithmetic.root),
    "cast": _cast,
    # comparison and logic
    "==": _equal,
    "!=": _unequal,
    "<": _truth(arithmetic.less),
    "<=": _truth(arithmetic.no_more),
    ">": _truth(lambda a, b: arithmetic.less(b, a)),
    ">=": _truth(lambda a, b: arithmetic.no_more(b, a)),
    "logical_and": _truth(arithmetic.both),
    "logical_or": _truth(arithmetic.one_of),
    "logical_xor": _truth(lambda a, b: a is not b),
    "logical_not": _truth(arithmetic.opposite),
    "where": _where,
    # reductions
    "sum": _reduction(arithmetic.add, rounds=True),
    "prod": _reduction(arithmetic.mul, rounds=True),
    "max": _reduction(arithmetic.greatest),
    "min": _reduction(arithmetic.least),
    "any": _reduction(arithmetic.one_of),
    "all": _reduction(arithmetic.both),
    # sizes, and tensors made of them
    "identity": _identity,
    "shape": _shape,
    "size": _size,
    "rank": _rank,
    "range": _range,
    "full": _full,
    "zeros": _filled_with(0),
    "ones": _filled_with(1),
    "one_hot": _one_hot,
    # moving elements about
    "concat": _concat,
    "stack": _stack,
    "gather": _gather,
    "index": _index,
    "slice": _slice,
    "reverse": _reverse,
    "reshape": _reshape,
    "flatten": _flatten,
    "squeeze": _by_list("axis", moves.squeezed),
    "expand_dims": _by_list("axis", moves.expanded),
    "broadcast_to": _broadcast_to,
    "expand": _broadcast_to,
    "tile": _by_list("reps", moves.tiled),
    "transpose": _transpose,
}
"""What gives the contents of an operator's result."""


def _split(applied: Applied) -> list[Contents | None]:
    found, axis = applied.contents(0), applied.number("axis")
    parts, sizes = applied.number("parts"), applied.numbers("sizes")
    axes = None if found is None or axis is None else moves.on_axes([axis], len(found.shape))
    if found is None or axes is None or not (parts or sizes):
        return []
    at = axes[0]
    if sizes is None:
        sizes = [found.shape[at] // (parts or 1)] * (parts or 1)
    made, first = list[Contents | None](), 0
    for size in sizes:
        made.append(moves.sliced(found, at, slice(first, first + size)))
        first += size
    return made if first == found.shape[at] and min(sizes) >= 0 else []


CONTENTS_OF_PARTS: dict[str, Callable[[Applied], list[Contents | None]]] = {"split": _split}
"""The same for operators whose result is a tuple: the contents of its parts, where any is known."""
