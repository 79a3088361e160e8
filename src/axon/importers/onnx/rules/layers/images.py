"""What samples images: blocks, grids, regions."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.layers.convolution import window_options
from axon.importers.onnx.rules.registry import ANY_SHAPE, SAME_RANK, rule
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import scalar_of
from axon.ops.sliding import MOST

BLOCKS = {"DCR": "first", "CRD": "last"}


@rule("DepthToSpace", "SpaceToDepth")
def blocks(node: Node) -> Made:
    size, mode = node.attribute("blocksize", 1), node.choice("mode", "DCR", BLOCKS)
    if size < 1:
        raise Unsupported(f"{node.operator} with blocks of {size}")
    operator = "depth_to_space" if node.operator == "DepthToSpace" else "space_to_depth"
    return node.call(operator, node.input(0), block=size, blocks_first=mode == "first")


@rule("Col2Im")
def col2im(node: Node) -> Made:
    count = node.length(1) or node.length(2)
    if count is None or count < 1:
        return node.declared(ANY_SHAPE, 0)
    parts = node.input(0), node.held_shape(1), node.held_shape(2)
    return node.call("col2im", *parts, dimensions=count, **window_options(node, count))


# --- grids -----------------------------------------------------------------------------------

MODES = {
    "nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic",
    "bicubic": "cubic",
}  # fmt: skip
PADDINGS = {"zeros": "zeros", "border": "border", "reflection": "reflection"}


@rule("GridSample")
def grid_sample(node: Node) -> Made:
    grid = node.shape(1)
    x = node.input(0) if grid is None else node.ranked(0, len(grid))
    expr = node.call(
        "grid_sample",
        x,
        node.input(1),
        mode=node.choice("mode", "linear", MODES),
        padding=node.choice("padding_mode", "zeros", PADDINGS),
        align_corners=bool(node.attribute("align_corners", 0)),
    )
    rank = node.rank(0)
    if rank is None or not 3 <= rank <= MOST + 2:
        return node.declared(SAME_RANK, 0)
    return expr


@rule("AffineGrid")
def affine_grid(node: Node) -> Made:
    theta, sizes, count = node.shape(0), node.vector(1), node.length(1)
    if theta is not None and len(theta) == 3 and theta[1] in (2, 3):
        count = 2 + theta[1]  # type: ignore[operator]
    if count not in (4, 5):
        return node.declared(ANY_SHAPE, 0)
    held = node.sized(1, [count])
    known = sizes is not None and sizes.shape == (count,)
    inner = node.sizes_or_fresh(sizes.items if sizes and known else [None] * count)
    corners = {"dimensions": count - 2, "align_corners": bool(node.attribute("align_corners", 0))}
    spatial = node.shape_literal(inner[2:], node.call("slice", held, start=2))
    made = node.call("affine_grid", node.input(0), spatial, **corners)
    if theta is None or theta[0] != inner[0]:
        made = node.shaped(made, [inner[0], *inner[2:], count - 2])
    return made


# --- regions ---------------------------------------------------------------------------------


@rule("RoiAlign")
def roi_align(node: Node) -> Made:
    size = [node.attribute("output_height", 1), node.attribute("output_width", 1)]
    newest = "half_pixel" if node.importer.opset >= 16 else "output_half_pixel"
    return node.call(
        "roi_align",
        *(node.input(i) for i in range(3)),
        size=size,
        sampling=node.attribute("sampling_ratio", 0),
        scale=node.attribute("spatial_scale", 1.0),
        mode=node.attribute("mode", "avg"),
        half_pixel=node.attribute("coordinate_transformation_mode", newest) == "half_pixel",
    )


@rule("MaxRoiPool")
def max_roi_pool(node: Node) -> Made:
    """The regions are rows of five: the number of the image comes first."""
    size = node.attribute("pooled_shape")
    if not size or len(size) != 2:
        raise Unsupported("MaxRoiPool without a height and a width")
    parts = [node.call(each, node.input(1)) for each in ("bounds_of_regions", "images_of_regions")]
    scale = node.attribute("spatial_scale", 1.0)
    return node.call("roi_pool", node.input(0), *parts, size=size, scale=scale)


def _first(node: Node, index: int) -> Expression:
    """The first element of a vector, as runtimes take it: it may have more."""
    if node.rank(index) == 1:
        return node.call("index", node.input(index), i=0)
    return scalar_of(node, index)


@rule("NonMaxSuppression")
def non_max_suppression(node: Node) -> Made:
    given = [_first(node, i) if node.has(i) else None for i in (2, 3, 4)]
    most, overlap, least = given
    rest = [node.literal(0) if most is None else most]
    if overlap is not None or least is not None:
        rest.append(node.literal(0.0) if overlap is None else overlap)
    if least is not None:
        rest.append(least)
    center = bool(node.attribute("center_point_box", 0))
    parts = (node.input(0), node.input(1), *rest)
    return node.call("non_max_suppression", *parts, center=center)
