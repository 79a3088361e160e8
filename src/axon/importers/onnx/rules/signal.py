"""Signals: Fourier transforms, windows, filters."""

from __future__ import annotations

from typing import Any

from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.registry import rule
from axon.types import dim as dims
from axon.types.type import Tensor

WINDOWS = {
    "HannWindow": "hann_window",
    "HammingWindow": "hamming_window",
    "BlackmanWindow": "blackman_window",
}


def _number(node: Node, index: int) -> Any:
    """The one element of an input, if it is known: a number or a dimension."""
    found = node.known_elements(index) if node.has(index) else None
    return found[0] if found is not None and len(found) == 1 else None


def _scalar(node: Node, index: int) -> Expression:
    """The one element of an input, which may stand in a vector."""
    x = node.input(index)
    return node.call("index", x, i=0) if node.rank(index) == 1 else x


@rule(*WINDOWS)
def window(node: Node) -> None:
    elem = ELEMENTS.get(node.attribute("output_datatype", 1))
    if elem is None:
        raise Unsupported(f"{node.operator} of an element type that Axon does not have")
    operator, size = WINDOWS[node.operator], _number(node, 0)
    given = {"periodic": bool(node.attribute("periodic", 1)), "to": Elem(elem)}
    later = node.call(operator, _scalar(node, 0), **given)
    if size is None or isinstance(size, float) or (isinstance(size, int) and size < 0):
        node.set_outputs(Tensor(elem, (node.fresh_dim(),)), fallback=later)
        return
    node.set_outputs(node.call(operator, node.size(size), **given), fallback=later)


@rule("MelWeightMatrix")
def mel_filters(node: Node) -> None:
    elem = ELEMENTS.get(node.attribute("output_datatype", 1))
    if elem is None:
        raise Unsupported("MelWeightMatrix of an element type that Axon does not have")
    bands, size = _number(node, 0), _number(node, 1)
    later = node.call("mel_filters", *(_scalar(node, i) for i in range(5)), to=Elem(elem))
    shape = (
        node.fresh_dim() if size is None else dims.add(dims.floordiv(size, 2), 1),
        node.fresh_dim() if bands is None else bands,
    )
    node.set_outputs(Tensor(elem, shape), fallback=later)


@rule("DFT")
def dft(node: Node) -> None:
    """The axis is an input since opset 20, and an attribute before."""
    word, rank = node.shape(0), node.rank(0)
    inverse, onesided = (bool(node.attribute(name, 0)) for name in ("inverse", "onesided"))
    axis = node.attribute("axis", 1 if node.importer.opset < 20 else -2)
    if node.importer.opset >= 20 and node.has(2):
        axis = _number(node, 2)
    if axis == -1:
        raise Unsupported("DFT along the axis that holds the parts of the numbers")
    if axis is not None and rank is not None and not -rank <= axis < rank - 1:
        at = axis + 1 if axis < 0 else axis
        node.set_outputs(node.call("dft", node.input(0), axis=at))
        return
    size, made = _number(node, 1), _somewhere(node, axis, inverse and onesided, onesided)
    if axis is None and rank is None:
        node.set_outputs(made)
        return
    parts, along = [node.input(0)], axis
    if axis is None:
        elem = node.elem(2) if isinstance(node.elem(2), str) else "i64"
        parts.append(node.call("mod", _scalar(node, 2), node.scalar(rank, elem)))
    elif axis < 0:
        along = axis + 1  # Axon does not count the last dimension
    by = _scalar(node, 1) if node.has(1) and size is None else size
    call = node.call("dft", *parts, axis=along, inverse=inverse, onesided=onesided, size=by)
    if word is None or axis is None or (node.has(1) and size is None):
        node.set_outputs(made, fallback=call)
    else:
        node.set_outputs(call)


def _somewhere(node: Node, axis: int | None, real: bool, onesided: bool) -> Tensor:
    """What is known of a transform whose axis or size is not."""
    word = node.shape(0)
    if word is None:
        return node.unknown(node.elem(0))
    changes = set(range(len(word) - 1)) if onesided or node.has(1) else set()
    if axis is not None:
        changes &= {axis % len(word)}
    sizes = [node.fresh_dim() if i in changes else n for i, n in enumerate(word)]
    return Tensor(node.elem(0), (*sizes[:-1], 1 if real else 2))


@rule("STFT")
def stft(node: Node) -> None:
    """Without a window the frames are taken as they are."""
    word, elem = node.shape(0), node.elem(0)
    step, length = _number(node, 1), _number(node, 3)
    onesided = bool(node.attribute("onesided", 1))
    if node.has(2):
        window = node.input(2)
    elif node.has(3) and isinstance(elem, str):
        size = node.size(length) if length is not None else _scalar(node, 3)
        window = node.call("ones", node.list_of([size]), to=Elem(elem))
    else:
        raise Unsupported("STFT without a window and without a length of frames")
    by = step if step is not None else _scalar(node, 1)
    made = node.call("stft", node.input(0), window, step=by, onesided=onesided)
    known = step is not None and (node.has(2) or length is not None)
    if known and word is not None:
        node.set_outputs(made)
        return
    first = word[0] if word else node.fresh_dim()
    open_ = tuple(node.fresh_dim() for _ in range(2))
    node.set_outputs(Tensor(elem, (first, *open_, 2)), fallback=made)
