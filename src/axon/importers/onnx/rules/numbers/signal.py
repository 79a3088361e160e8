"""Signals: Fourier transforms, windows, filters."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import element_type
from axon.importers.onnx.rules.registry import ANY_SHAPE, rule
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import scalar_of

WINDOWS = {
    "HannWindow": "hann_window",
    "HammingWindow": "hamming_window",
    "BlackmanWindow": "blackman_window",
}


def _size(node: Node, index: int) -> Expression:
    """The one element of an input, as a size if it is known."""
    size = node.element(index)
    if size is None or isinstance(size, float) or (isinstance(size, int) and size < 0):
        return scalar_of(node, index)
    return node.size(size, scalar_of(node, index))


@rule(*WINDOWS)
def window(node: Node) -> Made:
    operator, elem = WINDOWS[node.operator], element_type(node, "output_datatype", 1)
    given = {"periodic": bool(node.attribute("periodic", 1)), "to": elem}
    return node.call(operator, _size(node, 0), **given)


@rule("MelWeightMatrix")
def mel_filters(node: Node) -> Made:
    elem = element_type(node, "output_datatype", 1)
    bounds = scalar_of(node, 3), scalar_of(node, 4)
    return node.call("mel_filters", *(_size(node, i) for i in range(3)), *bounds, to=elem)


@rule("DFT")
def dft(node: Node) -> Made:
    """The axis is an input since opset 20, and an attribute before."""
    rank = node.rank(0)
    inverse, onesided = (bool(node.attribute(name, 0)) for name in ("inverse", "onesided"))
    axis = node.attribute("axis", 1 if node.importer.opset < 20 else -2)
    if node.importer.opset >= 20 and node.has(2):
        axis = node.element(2)
    if axis == -1:
        raise Unsupported("DFT along the axis that holds the parts of the numbers")
    if axis is not None and rank is not None and not -rank <= axis < rank - 1:
        at = axis + 1 if axis < 0 else axis
        return node.call("dft", node.input(0), axis=at)
    if axis is None and rank is None:
        return node.declared(ANY_SHAPE, 0)
    parts, along = [node.input(0)], axis
    if axis is None:
        elem = node.elem(2) if isinstance(node.elem(2), str) else "i64"
        parts.append(node.call("mod", scalar_of(node, 2), node.scalar(rank, elem)))
    elif axis < 0:
        along = axis + 1  # Axon does not count the last dimension
    size = node.element(1)
    by = scalar_of(node, 1) if node.has(1) and size is None else size
    how = {"inverse": inverse, "onesided": onesided, "size": by}
    return node.call("dft", *parts, axis=along, **how)


@rule("STFT")
def stft(node: Node) -> Made:
    """Without a window the frames are taken as they are."""
    elem, step = node.elem(0), node.element(1)
    onesided = bool(node.attribute("onesided", 1))
    if node.has(2):
        window = node.input(2)
    elif node.has(3) and isinstance(elem, str):
        window = node.call("ones", node.list_of([_size(node, 3)]), to=elem)
    else:
        raise Unsupported("STFT without a window and without a length of frames")
    by = step if step is not None else scalar_of(node, 1)
    return node.call("stft", node.input(0), window, step=by, onesided=onesided)
