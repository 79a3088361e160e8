"""What puts things somewhere: scattering, padding, and cutting to a size."""

from __future__ import annotations

from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import SAME_RANK, rule
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import scalar_of

# --- scattering ------------------------------------------------------------------------------

MODES = {"none": "set", "add": "add", "mul": "mul", "max": "max", "min": "min"}


def _mode(node: Node) -> str:
    return node.choice("reduction", "none", MODES)


@rule("ScatterElements", "Scatter")
def scatter_elements(node: Node) -> Made:
    parts = [node.input(i) for i in range(3)]
    axis, mode = node.attribute("axis", 0), _mode(node)
    return node.call("scatter_elements", *parts, axis=axis, mode=mode)


@rule("ScatterND")
def scatter_nd(node: Node) -> Made:
    parts, index = [node.input(i) for i in range(3)], node.shape(1)
    if index and isinstance(index[-1], int):
        return node.call("scatter_nd", *parts, axes=index[-1], mode=_mode(node))
    else:
        return node.type_of(parts[0])


@rule("TensorScatter")
def tensor_scatter(node: Node) -> Made:
    """New rows for a cache: from a place on that each image of the batch has for itself."""
    parts = [node.input(i) for i in range(3) if node.has(i)]
    circular = node.attribute("mode", "linear") == "circular"
    how = {"axis": node.attribute("axis", -2), "last": max(node.ints(2) or [0])}
    return node.call("update_cache", *parts, circular=circular, **how)


# --- edges -----------------------------------------------------------------------------------

PADS = {"constant": "constant", "edge": "edge", "reflect": "reflect", "wrap": "wrap"}


@rule("Pad")
def pad(node: Node) -> Made:
    word, mode = node.shape(0), node.choice("mode", "constant", PADS)
    pads = node.known_elements(1) if node.count > 1 else node.attribute("pads")
    axes = node.ints(3)
    if word is None:
        return node.declared(SAME_RANK, 0)
    rank = len(word)
    if node.has(3) and axes is None:
        return _pad_somewhere(node, rank, mode)
    wrong = [axis for axis in axes or [] if not -rank <= axis < rank]
    if wrong:
        return node.call("pad", node.input(0), before=1, axis=wrong[0])
    axes = list(range(rank)) if axes is None else [axis % rank for axis in axes]
    fallback = _pad_by(node, node.input(1), axes, mode) if node.count > 1 and axes else None
    if pads is None or len(pads) != 2 * len(axes):
        if fallback is None:
            raise Unsupported("Pad with a number of pads that does not fit")
        return fallback
    pairs = {axis: (pads[i], pads[i + len(axes)]) for i, axis in enumerate(axes)}
    return _pad(node, pairs, mode), fallback


def _value(node: Node) -> tuple[list[Expression], float | None]:
    """What Pad puts there: as an argument, or as a number that an attribute can be."""
    if node.count == 1:
        return [], node.attribute("value", 0.0)
    if not node.has(2):
        return [], None
    found = node.known_elements(2)
    if found and isinstance(found[0], float | int) and abs(found[0]) <= 1 << 24:
        return [], float(found[0])
    return [scalar_of(node, 2)], None


def _pad(node: Node, pairs: dict[int, tuple[Any, Any]], mode: str) -> Expression:
    """Pads that are known; those that are negative cut something off."""
    x, grown = node.input(0), {axis: pair for axis, pair in pairs.items() if pair != (0, 0)}
    value, number = _value(node)
    if not grown:
        return node.call("identity", x)
    attributes: dict[str, Any] = {"value": number or None, "mode": mode}
    if len(grown) == 1:
        ((axis, (before, after)),) = grown.items()
        return node.call("pad", x, *value, before=before, after=after, axis=axis, **attributes)
    listed = [list(grown.get(axis, (0, 0))) for axis in range(max(grown) + 1)]
    return node.call("pad", x, *value, pad=listed, **attributes)


def _pad_by(node: Node, pads: Expression, axes: list[int], mode: str) -> Expression:
    value = [scalar_of(node, 2)] if node.has(2) else []
    return node.call("pad_by", node.input(0), pads, *value, axis=axes, mode=mode)


def _pad_somewhere(node: Node, rank: int, mode: str) -> Expression:
    """Pads along axes that only the run knows: zeros for the others."""
    if not rank:
        return node.type_of(node.input(0))
    pads = node.call("paddings_of_axes", node.input(3), node.input(1), node.literal(rank))
    return _pad_by(node, pads, list(range(rank)), mode)


@rule("CenterCropPad")
def center_crop_pad(node: Node) -> Made:
    word, axes, x = node.shape(0), node.attribute("axes"), node.input(0)
    if word is None:
        return node.declared(SAME_RANK, 0)
    if axes is None:
        axes = list(range(len(word)))
    elif all(-len(word) <= axis < len(word) for axis in axes):
        axes = [axis % len(word) for axis in axes]
        axes = axes[: node.length(1)]  # runtimes leave the others as they are
    else:
        return node.call("center_crop_pad", x, node.input(1), axis=axes)
    if not axes:
        return node.call("identity", x)
    found, sizes = node.known_elements(1), node.input(1)
    if found is not None and len(found) == len(axes):
        sizes = node.shape_literal(found, sizes)
    return node.call("center_crop_pad", x, sizes, axis=axes)
