"""Contents of what operators compute element by element, or of several elements one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from axon.contents import arithmetic, moves
from axon.contents import reals as floats
from axon.contents.applied import Applied, SizeFacts
from axon.contents.arithmetic import is_symbol, settled
from axon.contents.reals import Real
from axon.contents.values import MOST_CONTENTS, Contents
from axon.types import dim as dims
from axon.types.quotient import exact_quotient

Followed = Callable[[Applied], Contents | None]
Numbers = Callable[..., Any]
"""A function of elements that are known; it may give None."""


def element_type(parts: list[Contents]) -> str:
    """The element type of what is computed of these."""
    return next((part.elem for part in parts if part.elem), "")


def pointwise(function: Numbers, parts: list[Contents], elem: str) -> Contents | None:
    """A function of elements; where one is not known, nor is the result."""
    return _broadcast(
        lambda *items: None if None in items else settled(elem, function(*items)), parts, elem
    )


def _broadcast(function: Numbers, parts: list[Contents], elem: str) -> Contents | None:
    """A function of elements that may not be known."""
    shape = moves.broadcast_shape([part.shape for part in parts])
    if shape is None or prod(shape) > MOST_CONTENTS:
        return None
    stretched = [moves.broadcast(part, shape) for part in parts]
    rows = zip(*(() if part is None else part.items for part in stretched), strict=True)
    return Contents(elem, shape, tuple([function(*items) for items in rows]))


def computed(function: Numbers, elem: str = "") -> Followed:
    """An operator on elements whose result has this element type, or theirs."""

    def follow(applied: Applied) -> Contents | None:
        parts = applied.every()
        return None if parts is None else pointwise(function, parts, elem or element_type(parts))

    return follow


def tested(function: Numbers) -> Followed:
    """An operator on elements whose result is true or false."""
    return computed(function, "bool")


# --- what depends on whether sizes are negative ------------------------------------------------


def divide(applied: Applied) -> Contents | None:
    return _quotient(applied, arithmetic.floored)


def floor_divide(applied: Applied) -> Contents | None:
    """Integers as they are divided anyway; floats are not followed so far."""
    parts = applied.every()
    if parts is None or not element_type(parts).startswith(("i", "u")):
        return None
    return _quotient(applied, arithmetic.floored)


def trunc_divide(applied: Applied) -> Contents | None:
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


def mod(applied: Applied) -> Contents | None:
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


def equal(applied: Applied) -> Contents | None:
    return tested(partial(same, applied.scope))(applied)


def unequal(applied: Applied) -> Contents | None:
    compare = partial(same, applied.scope)
    return tested(lambda a, b: arithmetic.opposite(compare(a, b)))(applied)


def same(scope: SizeFacts, a: Any, b: Any) -> Any:
    """Whether two are the same; a size is never negative."""
    for size, other in ((a, b), (b, a)):
        negative = type(other) is int and other < 0
        if negative and is_symbol(size) and scope.is_size(size):
            return False
    return arithmetic.equal(a, b)


def cast(applied: Applied) -> Contents | None:
    found = applied.contents(0)
    return None if found is None else as_type(applied, found)


def as_type(applied: Applied, x: Contents) -> Contents | None:
    """Elements in the type that is the attribute `to` of an operator."""
    to = str(applied.attribute("to"))
    return pointwise(partial(element, applied.scope, to), [x], to)


def element(scope: SizeFacts, to: str, x: Any) -> Any:
    """One element, cast to the type of that name."""
    if to.startswith(("i", "u")):
        return size_of(scope, x) if isinstance(x, Real) else arithmetic.as_integer(x)
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


def choose(applied: Applied) -> Contents | None:
    parts = applied.every()
    if parts is None:
        return None
    return _broadcast(arithmetic.choose, parts, element_type(parts[1:]))


def reduced(function: Numbers, rounds: bool = False) -> Followed:
    """An operator that makes one element of several. If it rounds, floats are not followed, since
    their order is not specified.
    """

    def follow(applied: Applied) -> Contents | None:
        if len(applied.args) > 1:
            return computed(function)(applied)
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
