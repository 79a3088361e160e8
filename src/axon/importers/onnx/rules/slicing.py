"""Slice: parts of tensors between bounds that count from the front, or from the end."""

from __future__ import annotations

from typing import Any

from axon.contents import arithmetic as contents
from axon.importers.expressions import Expression
from axon.importers.importer import known_shape
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import SAME_RANK, rule
from axon.importers.operations import Malformed
from axon.types import dim as dims
from axon.types.type import Type

FAR = 1 << 31
"""Bounds beyond this mean the end."""


@rule("Slice")
def slice_(node: Node) -> None:
    if node.count == 1:
        starts, ends = node.attribute("starts"), node.attribute("ends")
        axes, steps = node.attribute("axes"), None
    else:
        starts, ends = node.known_elements(1), node.known_elements(2)
        axes, steps = node.ints(3), node.ints(4)
        if (node.has(3) and axes is None) or (node.has(4) and steps is None):
            node.set_outputs(_cut_by_run(node, axes))
            return
    rank = node.rank(0)
    if starts is None or ends is None:
        if axes is None:
            count = node.length(1)
            axes = None if count is None else list(range(count))
        node.set_outputs(_cut_by_run(node, axes))
        return
    if any(isinstance(bound, float) for bound in (*starts, *ends)):
        raise Malformed("its starts and ends are no whole numbers")
    axes = list(range(len(starts))) if axes is None else axes
    for axis in axes:
        if rank is not None and not -rank <= axis < rank:
            node.set_outputs(node.call("slice", node.input(0), axis=axis, stop=0))
            return
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Malformed("its starts, ends, axes and steps are not equally many")
    starts = [_from_front(node, *each) for each in zip(starts, axes, steps, strict=True)]
    ends = [_without_last(node, *each) for each in zip(ends, axes, steps, strict=True)]
    expr, other = node.input(0), dict[int, Any]()
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == -1 and _reverses(start, end):
            expr = node.call("reverse", expr, axis=axis)
        elif step == 0 or not all(_counted(node, bound, step) for bound in (start, end)):
            other[axis] = _last(node, start, end, axis, step)
        elif not _takes_all(node, start, end, axis, step):
            low, high = _bounds(start, end, step)
            expr = node.call("slice", expr, axis=axis, start=low, stop=high, step=step)
    later = None if node.count == 1 else _cut_by_run(node, axes)
    if other and later is not None:
        expr = _of_sizes(node, later, node.importer.state.prune(node.infer(expr)), other)
    node.set_outputs(expr, fallback=later)


def _from_front(node: Node, start: Any, axis: int, step: int) -> Any:
    """A start that counts from the end, from the front. A size may be 0, and 0 is the front: so it
    counts from the end only if it is more than that, or if all is taken either way.
    """
    whole = node.dim(0, axis)
    if not contents.is_symbol(start) or step != 1 or whole is None:
        return start
    start, back = _without_last(node, start, axis, step), dims.scale(-1, start)
    if dims.is_nonnegative(dims.sub(back, whole)):
        return 0
    if dims.is_nonnegative(dims.sub(back, 1)):
        return dims.maximum(dims.sub(whole, back), 0)
    return start


def _without_last(node: Node, bound: Any, axis: int, step: int) -> Any:
    """All but the last: of nothing that is -1, which is the front too."""
    whole = node.dim(0, axis)
    if not contents.is_symbol(bound) or step != 1 or whole is None:
        return bound
    return dims.maximum(bound, 0) if dims.sub(whole, bound) == 1 else bound


def _last(node: Node, start: Any, end: Any, axis: int, step: int) -> Any:
    """How many the last `n` are, if `n` is a size: if it is 0, which is the front, all are."""
    whole = node.dim(0, axis)
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


def _takes_all(node: Node, start: Any, end: Any, axis: int, step: int) -> bool:
    """Whether a slice goes up to a size that is the tensor's own."""
    if start != 0 or step != 1 or not contents.is_symbol(end):
        return False
    return bool(end == node.dim(0, axis))


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


def _cut_by_run(node: Node, axes: list[int] | None) -> Expression:
    """The part by bounds that only a run knows."""
    count = node.length(1)
    parts = [node.input(i) for i in range(3)]
    steps = [node.input(4)] if node.has(4) else []
    if axes is None and not node.has(3) and count is not None:
        axes = list(range(count))
    rank = node.rank(0)
    axes = [axis % rank for axis in axes] if axes and rank else axes
    if axes == []:
        return node.call("identity", parts[0])
    if axes is not None:
        return node.call("slice_by", *parts, *steps, axes=axes)
    steps = steps or [node.call("ones_like", parts[1])]
    if node.has(3):
        return node.call("slice_by", *parts, *steps, node.input(3))
    if not isinstance(node.elem(1), str):
        return node.declared(SAME_RANK, 0)
    first = node.call("range", node.call("size", parts[1]), to=node.elem(1))
    return node.call("slice_by", *parts, *steps, first)
