"""What samples images: resizing, grids, regions."""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.build import Node
from axon.importers.onnx.rules import rule
from axon.types.type import Tensor
from axon.types.variables import ShapeVar


@rule("Resize", "Upsample")
def resize(node: Node) -> None:
    from fractions import Fraction

    from axon.types import dim as dims

    word = node.shape(0)
    if word is None:
        node.gives(node.unknown(node.elem(0)))
        return
    axes = node.attribute("axes") or list(range(len(word)))
    at_scales = 1 if node.proto.op_type == "Upsample" or node.importer.opset == 10 else 2
    sizes = node.whole(3) if node.has(3) else None
    result: list[Any] = list(word)
    if node.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        for axis in axes:
            result[axis] = node.fresh_dim()
        node.gives(Tensor(node.elem(0), tuple(result)))
        return
    if node.has(3):
        for i, axis in enumerate(axes):
            found = node.contents(3)
            size = None if found is None else found.flat[i]
            result[axis] = node.fresh_dim() if size is None else size
        del sizes
        node.gives(Tensor(node.elem(0), tuple(result)))
        return
    scales = node.whole(at_scales) if node.has(at_scales) else node.attribute("scales")
    for i, axis in enumerate(axes):
        scale = scales[i] if scales else None
        if scale is None or not isinstance(scale, float | int):
            result[axis] = node.fresh_dim()
            continue
        exact = Fraction(scale).limit_denominator(1 << 20)
        result[axis] = (
            dims.floordiv(dims.scale(exact.numerator, word[axis]), exact.denominator)
            if abs(float(exact) - scale) < 1e-9
            else node.fresh_dim()
        )
    node.gives(Tensor(node.elem(0), tuple(result)))


@rule("DepthToSpace", "SpaceToDepth")
def blocks(node: Node) -> None:
    from axon.types import dim as dims

    word, size = node.shape(0), node.attribute("blocksize", 1)
    if word is None or len(word) != 4:
        node.gives(node.unknown(node.elem(0), 4))
        return
    n, c, h, w = (size for size in word if not isinstance(size, ShapeVar))
    if node.proto.op_type == "DepthToSpace":
        made = (n, dims.floordiv(c, size * size), dims.scale(size, h), dims.scale(size, w))
    else:
        made = (n, dims.scale(size * size, c), dims.floordiv(h, size), dims.floordiv(w, size))
    node.gives(Tensor(node.elem(0), made))


@rule("GridSample")
def grid_sample(node: Node) -> None:
    x, grid = node.shape(0), node.shape(1)
    if x is None or grid is None:
        node.gives(node.unknown(node.elem(0), node.rank(0)))
        return
    node.gives(Tensor(node.elem(0), (x[0], x[1], *grid[1:-1])))


@rule("AffineGrid")
def affine_grid(node: Node) -> None:
    sizes = node.contents(1)
    if sizes is None:
        node.gives(node.unknown(node.elem(0)))
        return
    inner = [node.fresh_dim() if s is None else s for s in sizes]
    node.gives(Tensor(node.elem(0), (inner[0], *inner[2:], len(inner) - 2)))


@rule("RoiAlign")
def roi_align(node: Node) -> None:
    x, rois = node.shape(0), node.shape(1)
    if x is None or rois is None:
        node.gives(node.unknown(node.elem(0), 4))
        return
    size = (node.attribute("output_height", 1), node.attribute("output_width", 1))
    node.gives(Tensor(node.elem(0), (rois[0], x[1], *size)))


@rule("NonMaxSuppression")
def non_max_suppression(node: Node) -> None:
    node.gives(Tensor("i64", (node.fresh_dim(), 3)))
