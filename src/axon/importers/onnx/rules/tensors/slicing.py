"""Slice: parts of tensors between bounds that count from the front, or from the end."""

from __future__ import annotations

from axon.importers.bounds import Part, parted
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import SAME_RANK, rule
from axon.importers.operations import Malformed


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
        if node.count == 1:
            raise Malformed("its starts, ends and axes are not equally many")
        node.set_outputs(_cut_by_run(node, axes))  # the operator refuses them
        return
    parts = [Part(*each) for each in zip(starts, ends, axes, steps, strict=True)]
    fallback = None if node.count == 1 else _cut_by_run(node, axes)
    node.set_outputs(parted(node, 0, parts, fallback), fallback=fallback)


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
