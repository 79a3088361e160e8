"""What the contents of a result are, by the operator of Axon that makes it.

An operator that is not in the table has a result of which no element is known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from axon.importers.contents import arithmetic, moves
from axon.importers.contents import pointwise as elements
from axon.importers.contents.applied import Applied
from axon.importers.contents.pointwise import Followed
from axon.importers.contents.values import MOST_CONTENTS, Contents, scalar, vector
from axon.types.type import shape_size
from axon.types.variables import ShapeVar

# --- sizes, and tensors made of them -----------------------------------------------------------


def _ensured(applied: Applied) -> Contents | None:
    """The elements of the last argument, if it has the shape that is asked for."""
    return applied.contents(len(applied.args) - 1)


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
    return elements.pointwise(
        partial(elements.element, applied.scope, elem), [vector(numbers)], elem
    )


def _full(applied: Applied) -> Contents | None:
    sizes, value = applied.sizes(0), applied.contents(1)
    return None if sizes is None or value is None else moves.broadcast(value, sizes)


def _filled_with(number: int) -> Followed:
    """An operator that makes a tensor of one number, in a shape."""

    def follow(applied: Applied) -> Contents | None:
        sizes, elem = applied.sizes(0), str(applied.attribute("to"))
        item = elements.element(applied.scope, elem, number)
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
    hot = (
        None
        if along is None
        else elements.pointwise(partial(elements.same, applied.scope), [wide, along], "bool")
    )
    elem = str(applied.attribute("to"))
    cast = partial(elements.element, applied.scope, elem)
    return None if hot is None else elements.pointwise(cast, [hot], elem)


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
    "+": elements.computed(arithmetic.add),
    "-": elements.computed(arithmetic.sub),
    "*": elements.computed(arithmetic.mul),
    "/": elements.divide,
    "trunc_divide": elements.trunc_divide,
    "mod": elements.mod,
    "pow": elements.computed(arithmetic.power),
    "maximum": elements.computed(arithmetic.greatest),
    "minimum": elements.computed(arithmetic.least),
    "negate": elements.computed(arithmetic.negate),
    "abs": elements.computed(arithmetic.magnitude),
    "sign": elements.computed(arithmetic.sign),
    "square": elements.computed(arithmetic.square),
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
    "logical_and": elements.tested(arithmetic.both),
    "logical_or": elements.tested(arithmetic.one_of),
    "logical_xor": elements.tested(lambda a, b: a is not b),
    "logical_not": elements.tested(arithmetic.opposite),
    "where": elements.choose,
    # reductions
    "sum": elements.reduced(arithmetic.add, rounds=True),
    "prod": elements.reduced(arithmetic.mul, rounds=True),
    "max": elements.reduced(arithmetic.greatest),
    "min": elements.reduced(arithmetic.least),
    "any": elements.reduced(arithmetic.one_of),
    "all": elements.reduced(arithmetic.both),
    # sizes, and tensors made of them
    "ensure_shape": _ensured,
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
