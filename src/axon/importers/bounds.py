"""Parts of tensors between bounds that count from the front, or from the end: a bound that is
negative counts from the end, and one outside is brought in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from axon.contents import arithmetic as contents
from axon.importers.expressions import Expression
from axon.importers.importer import known_shape
from axon.importers.node import Node
from axon.types import dim as dims
from axon.types.type import Type

FAR = 1 << 31
"""Bounds beyond this mean the end."""


class Part(NamedTuple):
    """What stands along an axis from a start up to and without an end, every so many."""

    start: Any
    end: Any
    axis: int
    step: int


def parted(
    node: Node, index: int, parts: Sequence[Part], fallback: Expression | None
) -> Expression:
    """The parts of an input that lie between bounds that are numbers, or sizes. `fallback` is what
    only a run knows, if it is not known from which end a bound counts.
    """
    expr, other = node.input(index), dict[int, Any]()
    for part in parts:
        whole = node.dim(index, part.axis)
        start, end = _from_front(node, part, whole), _without_last(part.end, part.step, whole)
        axis, step = part.axis, part.step
        if step == -1 and _reverses(start, end):
            expr = node.call("reverse", expr, axis=axis)
        elif step == 0 or not all(_counted(node, bound, step) for bound in (start, end)):
            other[axis] = _last(node, start, end, step, whole)
        elif not _takes_all(start, end, step, whole):
            low, high = _bounds(start, end, step)
            expr = node.call("slice", expr, axis=axis, start=low, stop=high, step=step)
    if other and fallback is not None:
        expr = _of_sizes(node, fallback, node.importer.state.prune(node.infer(expr)), other)
    return expr


def _from_front(node: Node, part: Part, whole: Any) -> Any:
    """A start that counts from the end, from the front. A size may be 0, and 0 is the front: so it
    counts from the end only if it is more than that, or if all is taken either way.
    """
    start, step = part.start, part.step
    if not contents.is_symbol(start) or step != 1 or whole is None:
        return start
    start, back = _without_last(start, step, whole), dims.scale(-1, start)
    if dims.is_nonnegative(dims.sub(back, whole)):
        return 0
    if dims.is_nonnegative(dims.sub(back, 1)):
        return dims.maximum(dims.sub(whole, back), 0)
    return start


def _without_last(bound: Any, step: int, whole: Any) -> Any:
    """All but the last: of nothing that is -1, which is the front too."""
    if not contents.is_symbol(bound) or step != 1 or whole is None:
        return bound
    return dims.maximum(bound, 0) if dims.sub(whole, bound) == 1 else bound


def _last(node: Node, start: Any, end: Any, step: int, whole: Any) -> Any:
    """How many the last `n` are, if `n` is a size: if it is 0, which is the front, all are."""
    to_the_end = step == 1 and isinstance(end, int) and end > FAR
    if not contents.is_symbol(start) or not to_the_end or whole is None:
        return None
    back = dims.scale(-1, start)
    if not node.importer.is_size(back):
        return None
    none = dims.sub(1, dims.minimum(back, 1))
    return dims.add(dims.minimum(back, whole), dims.mul(whole, none))


def _counted(node: Node, bound: Any, step: int) -> bool:
    """Whether it is known from which end a bound counts: a size that may be negative is not."""
    return isinstance(bound, int) or (step > 0 and node.importer.is_size(bound))


def _reverses(start: Any, end: Any) -> bool:
    """Whether a slice that goes backwards goes from the last element to the first."""
    known = isinstance(start, int) and isinstance(end, int)
    return known and (start == -1 or start > FAR) and end < -FAR


def _takes_all(start: Any, end: Any, step: int, whole: Any) -> bool:
    """Whether a slice goes up to a size that is the tensor's own."""
    if start != 0 or step != 1 or not contents.is_symbol(end):
        return False
    return bool(end == whole)


def _bounds(start: Any, end: Any, step: int) -> tuple[Any, Any]:
    """The bounds as Axon takes them: None where they are the ends."""
    if step < 0:
        return None if start > FAR else start, None if end < -FAR else end
    low = None if isinstance(start, int) and (start == 0 or start < -FAR) else start
    return low, None if isinstance(end, int) and end > FAR else end


def _of_sizes(node: Node, expr: Expression, whole: Type, other: dict[int, Any]) -> Expression:
    """A part that only a run knows, of these sizes along some axes; None is an unknown size."""
    word = known_shape(whole)
    if word is None:
        return expr
    sizes: list[Any] = list(word)
    for axis, size in other.items():
        sizes[axis] = node.fresh_dim() if size is None else size
    return node.shaped(expr, sizes)
