"""Resize, in all its ways."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from axon.contents import arithmetic as contents
from axon.contents.singles import shortest, single
from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import SAME_RANK, rule
from axon.importers.operations import Unsupported
from axon.importers.scales import is_exact, scaled
from axon.ops.families.resample import LARGEST

COORDINATES = {
    "half_pixel": "half_pixel",
    "half_pixel_symmetric": "half_pixel_symmetric",
    "pytorch_half_pixel": "pytorch_half_pixel",
    "align_corners": "align_corners",
    "asymmetric": "asymmetric",
    "tf_half_pixel_for_nn": "tf_half_pixel",
    "tf_crop_and_resize": "crop",
}
ROUNDINGS = {
    "round_prefer_floor": "prefer_floor",
    "round_prefer_ceil": "prefer_ceil",
    "floor": "floor",
    "ceil": "ceil",
}
ASPECTS = {"stretch": "stretch", "not_larger": "not_larger", "not_smaller": "not_smaller"}
MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic"}


@dataclass(frozen=True, slots=True)
class _Resize:
    """What is asked for: which axes, and how."""

    axes: list[int]
    how: dict[str, Any]
    region: list[Expression]
    keeps: bool
    """Whether an axis that keeps its size keeps its elements."""
    there: bool
    """Whether the tensor has all these axes."""


@rule("Resize", "Upsample")
def resize(node: Node) -> Made:
    word = node.shape(0)
    if word is None:
        return node.declared(SAME_RANK, 0)
    wanted = _wanted(node, len(word))
    if node.has(3) and node.length(3) != 0:
        return _to_sizes(node, list(word), wanted)
    return _by_scales(node, list(word), wanted)


def _wanted(node: Node, rank: int) -> _Resize:
    axes = node.attribute("axes") or list(range(rank))
    old = node.operator == "Upsample" or node.importer.opset == 10
    usual = "asymmetric" if old else "half_pixel"
    given = node.choice("coordinate_transformation_mode", usual, COORDINATES)
    rounding = node.choice("nearest_mode", "floor" if old else "round_prefer_floor", ROUNDINGS)
    mode, crop = node.choice("mode", "nearest", MODES), given == "crop"
    how: dict[str, Any] = {"mode": mode, "coordinates": given}
    if mode == "nearest":
        how["rounding"] = rounding
    else:
        how["antialias"] = bool(node.attribute("antialias", 0))
        how["exclude_outside"] = bool(node.attribute("exclude_outside", 0))
    if mode == "cubic":
        how["cubic"] = node.attribute("cubic_coeff_a", -0.75)
    if crop:
        how["outside"] = node.attribute("extrapolation_value", 0.0)
    keeps = not crop and given != "tf_half_pixel"
    region = [node.input(1)] if crop else []
    there = all(-rank <= axis < rank for axis in axes)
    return _Resize([axis % rank for axis in axes] if there else axes, how, region, keeps, there)


# --- sizes -----------------------------------------------------------------------------------


def _to_sizes(node: Node, word: list[Any], wanted: _Resize) -> Made:
    aspect = node.choice("keep_aspect_ratio_policy", "stretch", ASPECTS)
    axes, found = wanted.axes, node.contents(3)
    parts = (node.input(0), node.input(3), *wanted.region)
    fallback = node.call("resize", *parts, axis=axes, aspect=aspect, **wanted.how)
    if not wanted.there:
        return fallback
    sizes: list[Any] = [None] * len(axes)
    if found is not None and len(found.items) == len(axes):
        sizes = list(found.items)
    if aspect != "stretch":
        made = _one_scale([word[axis] for axis in axes], sizes, aspect)
        return _of_sizes(node, fallback, word, dict(zip(axes, made, strict=True)))
    if all(size is None for size in sizes):
        return fallback
    sizes = node.sizes_or_fresh(sizes)
    kept = [i for i, axis in enumerate(axes) if not wanted.keeps or sizes[i] != word[axis]]
    if not kept:
        return node.call("identity", node.input(0))
    to = node.shape_literal([sizes[i] for i in kept])
    at = [axes[i] for i in kept]
    expr = node.call("resize", node.input(0), to, *wanted.region, axis=at, **wanted.how)
    return expr, fallback


def _of_sizes(node: Node, expr: Expression, word: list[Any], made: dict[int, Any]) -> Expression:
    """A tensor that has these sizes along some axes; None is one that is not known."""
    sizes = [made.get(axis, size) for axis, size in enumerate(word)]
    return node.shaped(expr, node.sizes_or_fresh(sizes))


def _one_scale(before: list[Any], sizes: list[Any], aspect: str) -> list[Any]:
    """The sizes that one scale for all axes makes, where all are numbers."""
    if not all(isinstance(n, int) and n > 0 for n in (*before, *sizes)):
        return [None] * len(sizes)
    factors = [m / n for m, n in zip(sizes, before, strict=True)]
    one = min(factors) if aspect == "not_larger" else max(factors)
    return [int(one * n + 0.5) for n in before]


# --- scales ----------------------------------------------------------------------------------


def _by_scales(node: Node, word: list[Any], wanted: _Resize) -> Made:
    at_scales = 1 if node.operator == "Upsample" or node.importer.opset == 10 else 2
    axes = wanted.axes
    scales = node.known_elements(at_scales) if node.has(at_scales) else node.attribute("scales")
    fallback = None
    if node.has(at_scales) and axes:
        parts = (node.input(0), node.input(at_scales), *wanted.region)
        fallback = node.call("rescale", *parts, axis=axes, **wanted.how)
    open_ = scales is None or any(map(contents.is_real, scales))
    if scales is None or open_ or not wanted.there or len(scales) != len(axes):
        return node.declared(SAME_RANK, 0) if fallback is None else fallback
    if not all(isinstance(scale, float | int) and 0 < scale < LARGEST for scale in scales):
        raise Unsupported("Resize by a scale that is none")
    kept = [i for i, scale in enumerate(scales) if not wanted.keeps or scale != 1]
    if not kept:
        return node.call("identity", node.input(0))
    expr = node.call(
        "resize",
        node.input(0),
        *wanted.region,
        scale=[_short(scales[i]) for i in kept],
        axis=[axes[i] for i in kept],
        **wanted.how,
    )
    if not all(is_exact(scale) for scale in scales):
        made = {a: _scaled(word[a], float(s)) for a, s in zip(axes, scales, strict=True)}
        return _of_sizes(node, expr, word, made)
    return expr


def _short(scale: float) -> float | int:
    """A scale as it was written: the file has what f32 makes of it."""
    return int(scale) if float(scale).is_integer() else shortest(scale)


def _scaled(size: Any, scale: float) -> Any:
    """The size times a scale, rounded down; None where that rests on how floats are rounded."""
    if is_exact(scale):
        return scaled(size, scale)
    if not isinstance(size, int):
        return None
    plain, short = size * scale, single(single(size) * single(scale))
    if not math.isfinite(short) or math.floor(plain) != math.floor(short):
        return None
    return math.floor(plain)
