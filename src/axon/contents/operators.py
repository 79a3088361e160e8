"""What the contents of a result are, by the operator of Axon that makes it.

An operator that is not in the table has a result of which no element is known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from axon.contents import arithmetic, moves
from axon.contents import pointwise as elements
from axon.contents.applied import Applied
from axon.contents.pointwise import Followed
from axon.contents.values import MOST_CONTENTS, Contents, scalar, vector
from axon.types.type import shape_size
from axon.types.variables import ShapeVar

# --- sizes, and tensors made of them -----------------------------------------------------------


def _last(applied: Applied) -> Contents | None:
    """The elements of the last argument, which the operator checks at most."""
    return applied.contents(-1)


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
    return None if len(numbers) > MOST_CONTENTS else elements.as_type(applied, vector(numbers))


def _full(applied: Applied) -> Contents | None:
    sizes, value = applied.sizes(0), applied.contents(1)
    return None if sizes is None or value is None else moves.broadcast(value, sizes)


def _filled_with(number: int) -> Followed:
    """An operator that makes a tensor of one number, in a shape."""

    def follow(applied: Applied) -> Contents | None:
        sizes, item = applied.sizes(0), elements.as_type(applied, scalar(number))
        return None if sizes is None or item is None else moves.broadcast(item, sizes)

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
    if along is None:
        return None
    hot = elements.pointwise(partial(elements.same, applied.scope), [wide, along], "bool")
    return None if hot is None else elements.as_type(applied, hot)


# --- moving elements about ---------------------------------------------------------------------


def _concat(applied: Applied) -> Contents | None:
    parts, axis = [applied.contents(i) for i in range(len(applied.args))], applied.number("axis")
    if axis is None or not any(part is not None for part in parts):
        return None
    filled = [_unknown(applied, i) if part is None else part for i, part in enumerate(parts)]
    return moves.joined(filled, axis)


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
    return moves.joined([moves.expanded(part, [axis]) for part in parts], axis)


def _gather(applied: Applied) -> Contents | None:
    parts, axis = applied.every(), applied.number("axis")
    return None if parts is None or axis is None else moves.taken(parts[0], parts[1], axis)


def _slice(applied: Applied) -> Contents | None:
    found, axis = applied.contents(0), applied.number("axis")
    names = ("start", "stop", "step")
    bounds = [applied.attribute(name) for name in names]
    if found is None or axis is None or not bounds[2]:
        return None
    if not all(bound is None or type(bound) is int for bound in bounds):
        return None
    return moves.sliced(found, axis, slice(*bounds))


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


def _transpose(applied: Applied) -> Contents | None:
    found = applied.contents(0)
    if found is None:
        return None
    perm, rank = applied.numbers("perm"), len(found.shape)
    if applied.attribute("perm") is None:
        perm = [*range(rank - 2), rank - 1, rank - 2]  # the last two change places
    return None if perm is None else moves.transposed(found, perm)


def _moved(move: Callable[..., Contents | None], *by: Callable[[Applied], Any]) -> Followed:
    """A move of the first argument, by what these functions find if they all find something."""

    def follow(applied: Applied) -> Contents | None:
        found = applied.contents(0)
        given = [] if found is None else [each(applied) for each in by]
        return None if found is None or None in given else move(found, *given)

    return follow


def _number(name: str) -> Callable[[Applied], int | None]:
    return lambda applied: applied.number(name)


def _numbers(name: str) -> Callable[[Applied], list[int] | None]:
    return lambda applied: applied.numbers(name)


def _sizes(applied: Applied) -> tuple[int, ...] | None:
    return applied.sizes(1)


CONTENTS: dict[str, Followed] = {
    # arithmetic
    "+": elements.computed(arithmetic.add),
    "-": elements.computed(arithmetic.sub),
    "*": elements.computed(arithmetic.mul),
    "/": elements.divide,
    "//": elements.floor_divide,
    "trunc_divide": elements.trunc_divide,
    "mod": elements.mod,
    "pow": elements.computed(arithmetic.power),
    "maximum": elements.computed(arithmetic.greatest),
    "minimum": elements.computed(arithmetic.least),
    "negate": elements.computed(arithmetic.negate),
    "abs": elements.computed(arithmetic.magnitude),
    "sign": elements.computed(arithmetic.sign),
    "square": elements.computed(lambda a: arithmetic.mul(a, a)),
    "floor": elements.computed(arithmetic.floor),
    "ceil": elements.computed(arithmetic.ceil),
    "sqrt": elements.computed(arithmetic.root),
    "cast": elements.cast,
    # comparison and logic
    "==": elements.equal,
    "!=": elements.unequal,
    "<": elements.tested(arithmetic.less),
    "<=": elements.tested(arithmetic.no_more),
    ">": elements.tested(lambda a, b: arithmetic.less(b, a)),
    ">=": elements.tested(lambda a, b: arithmetic.no_more(b, a)),
    "logical_and": elements.tested(lambda a, b: a and b),
    "logical_or": elements.tested(lambda a, b: a or b),
    "logical_xor": elements.tested(lambda a, b: a is not b),
    "logical_not": elements.tested(arithmetic.opposite),
    "where": elements.choose,
    # reductions
    "sum": elements.reduced(arithmetic.add, rounds=True),
    "prod": elements.reduced(arithmetic.mul, rounds=True),
    "max": elements.reduced(arithmetic.greatest),
    "min": elements.reduced(arithmetic.least),
    "any": elements.reduced(lambda a, b: a or b),
    "all": elements.reduced(lambda a, b: a and b),
    # sizes, and tensors made of them
    "ensure_shape": _last,
    "identity": _last,
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
    "index": _moved(
        lambda x, row, axis: moves.taken(x, scalar(row), axis), _number("i"), _number("axis")
    ),
    "slice": _slice,
    "reverse": _moved(
        lambda x, axis: moves.sliced(x, axis, slice(None, None, -1)), _number("axis")
    ),
    "reshape": _moved(moves.reshaped, _sizes),
    "flatten": _flatten,
    "squeeze": _moved(moves.squeezed, _numbers("axis")),
    "expand_dims": _moved(moves.expanded, _numbers("axis")),
    "broadcast_to": _moved(moves.expanded_to, _sizes),
    "expand": _moved(moves.expanded_to, _sizes),
    "tile": _moved(moves.tiled, _numbers("reps")),
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
