"""torchvision's operators: regions of images, and filters that look aside."""

from __future__ import annotations

from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule


@rule("nms", domain="torchvision")
def nms(node: TorchNode) -> Made:
    """The numbers of the boxes that stay, the best first."""
    boxes, scores = (node.ranked(node.tensor_index(n), r) for n, r in (("dets", 2), ("scores", 1)))
    overlap = float(node.real("iou_threshold", 0.5))
    return node.call("best_boxes", boxes, scores, node.literal(overlap))


def _rows(node: TorchNode) -> tuple[Expression, Expression]:
    """Regions, and the numbers of their images, which come first."""
    rows = node.ranked(node.tensor_index("rois"), 2)
    image = node.cast(node.call("index", rows, i=0, axis=1), "i64")
    return node.call("slice", rows, start=1, axis=1), image


def _size(node: TorchNode) -> list[int]:
    found = [node.integer(name) for name in ("pooled_height", "pooled_width")]
    if any(size is None or size < 0 for size in found):
        raise Malformed(f"its regions become {found}")
    return [size or 0 for size in found]


@rule("roi_align", domain="torchvision")
def roi_align(node: TorchNode) -> Made:
    return node.call(
        "roi_align",
        node.ranked(node.tensor_index("input"), 4),
        *_rows(node),
        size=_size(node),
        sampling=max(node.integer("sampling_ratio") or 0, 0),
        scale=float(node.real("spatial_scale", 1.0)),
        half_pixel=node.flag("aligned"),
    )


@rule("roi_pool", domain="torchvision")
def roi_pool(node: TorchNode) -> None:
    """Beside it stands where each element comes from."""
    x = node.ranked(node.tensor_index("input"), 4)
    scale = float(node.real("spatial_scale", 1.0))
    made = node.call("roi_pool", x, *_rows(node), size=_size(node), scale=scale)
    node.set_outputs(made, node.type_of(node.cast(made, "i32")))


@rule("ps_roi_align", "ps_roi_pool", domain="torchvision")
def position_sensitive(node: TorchNode) -> None:
    """Each place in a region has channels of its own."""
    rows, columns = _size(node)
    at = node.tensor_index("input"), node.tensor_index("rois")
    for_each = f"(t [n,{rows * columns}*c,h,w], t [r,5])"
    made = f"[r,c,{rows},{columns}]"
    node.set_outputs(
        node.declared(f"{for_each} -> t {made}", *at),
        node.declared(f"{for_each} -> i32 {made}", *at),
    )


@rule("deform_conv2d", domain="torchvision")
def deform_conv2d(node: TorchNode) -> Made:
    parts = [node.ranked(node.tensor_index(n), 4) for n in ("input", "weight", "offset")]
    masked = node.flag("use_mask")
    parts.append(node.x("bias"))
    if masked:
        parts.append(node.ranked(node.tensor_index("mask"), 4))
    options: dict[str, Any] = {}
    for name, usual in (("stride", 1), ("pad", 0), ("dilation", 1)):
        options[name] = [node.integer(f"{name}_{side}", usual) for side in "hw"]
    return node.call(
        "deform_conv",
        *parts,
        **options,
        groups=node.integer("groups", 1),
        offset_groups=node.integer("offset_groups", 1),
    )
