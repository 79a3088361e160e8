"""Pools: what becomes of each window."""

from __future__ import annotations

from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.layers.convolution import batched
from axon.importers.torch.rules.registry import rule
from axon.importers.windows import shortened, window_fits
from axon.ops.operator import Problem
from axon.ops.sliding import places, places_past, sides_of, spread
from axon.types import dim as dims
from axon.types.type import Shape


def spatial_of(node: TorchNode) -> int:
    """The number in the name of an operator, `max_pool2d`."""
    return next(int(letter) for letter in reversed(node.operator) if letter in "123")


def _options(node: TorchNode, spatial: int) -> dict[str, Any]:
    def listed(name: str, usual: list[int]) -> list[int]:
        found = node.integers(name) or usual
        if len(found) not in (1, spatial):
            raise Malformed(f"its argument `{name}` is not one number for each dimension")
        return list(spread(tuple(found), spatial))

    window = listed("kernel_size", [1])
    return {
        "window": window,
        "stride": listed("stride", window),
        "pad": listed("padding", [0]),
        "dilation": listed("dilation", [1]),
        "ceil_mode": node.flag("ceil_mode"),
    }


@rule("max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d")
def pool(node: TorchNode) -> Made:
    spatial = spatial_of(node)
    slid = _options(node, spatial)
    if node.operator.startswith("max"):
        return _slid(node, "max_pool", spatial, slid)
    own = {**slid, "count_pad": node.flag("count_include_pad", True)}
    divisor = node.integer("divisor_override")
    if divisor is None:
        return _slid(node, "avg_pool", spatial, own)
    if slid["ceil_mode"] or divisor == 0:
        return node.type_of(_slid(node, "avg_pool", spatial, own))
    count = dims.product(slid["window"])
    made = _slid(node, "avg_pool", spatial, {**slid, "count_pad": True})
    elem = node.elem_of() or elements.DEFAULT
    return node.call("*", made, node.scalar(count / divisor, elem))  # type: ignore[operator]


def _slid(node: TorchNode, operator: str, spatial: int, slid: dict[str, Any]) -> Expression:
    """A pool of images, or of one image."""
    at, short = node.tensor_index("self"), shortened(slid)

    def make(x: Expression, word: Shape | None) -> Expression:
        if not slid["ceil_mode"]:
            window_fits(node, word, (0, 0, *slid["window"]), slid)
        return node.call(operator, x, **short)

    def declared() -> Expression:
        return node.declared(_signature(slid, spatial, operator), at)

    return batched(node, at, spatial, make, declared)


def _signature(slid: dict[str, Any], spatial: int, operator: str) -> str:
    """A pool of what is one image or many."""
    window, stride, pad, dilation = (
        tuple(slid[name]) for name in ("window", "stride", "pad", "dilation")
    )
    sides = sides_of(spatial, stride, pad, dilation, window)
    if isinstance(sides, Problem):
        raise Malformed(sides.text)
    slide = places_past if slid["ceil_mode"] else places
    x, y = (",".join(words) for words in ([s.input for s in sides], map(slide, sides)))
    made = "i64" if operator == "argmax_pool" else "t"
    return f"t batch@[{x}] -> {made} batch@[{y}]"


@rule("max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices")
def pool_with_indices(node: TorchNode) -> None:
    """An index is a number within its channel, not within the whole tensor."""
    spatial = spatial_of(node)
    slid = _options(node, spatial)
    found = _slid(node, "argmax_pool", spatial, slid)
    size = node.call("size", node.x(), axis=-1)
    for axis in range(-spatial, -1):
        size = node.call("*", size, node.call("size", node.x(), axis=axis))
    within = node.call("mod", found, node.cast(size, "i64"))
    node.set_outputs(_slid(node, "max_pool", spatial, slid), within)


# --- windows that follow from the sizes ------------------------------------------------------


@rule(
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d",
)  # fmt: skip
def adaptive_avg_pool(node: TorchNode) -> Made:
    spatial = spatial_of(node)
    if node.sizes("output_size") in ([1], [1] * spatial):
        return node.call("mean", node.x(), axis=list(range(-spatial, 0)), keep=True)
    return _adaptive(node, "adaptive_avg_pool", spatial)


@rule("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(node: TorchNode) -> None:
    made = _adaptive(node, "adaptive_max_pool", spatial_of(node))
    node.set_outputs(made, node.type_of(node.cast(made, "i64")))


def _adaptive(node: TorchNode, operator: str, spatial: int) -> Expression:
    sizes = node.sizes("output_size")
    if len(sizes) == 1 and spatial > 1:
        given = node.argument("output_size")
        each = given[0] if isinstance(given, tuple) else given
        held = node.list_of([node.as_found(each)] * spatial)
        wanted = node.shape_literal(sizes * spatial, held)
    else:
        wanted = node.shape_of_argument("output_size", sizes)
    return node.call(operator, node.x(), wanted, dimensions=spatial)


@rule("fractional_max_pool2d", "fractional_max_pool3d")
def fractional_max_pool(node: TorchNode) -> None:
    """Where the windows stand is drawn by chance."""
    spatial = spatial_of(node)
    made = _adaptive(node, "adaptive_max_pool", spatial)
    node.set_outputs(node.type_of(made), node.type_of(node.cast(made, "i64")))


@rule("max_unpool2d", "max_unpool3d")
def max_unpool(node: TorchNode) -> Made:
    """Each element goes where it came from; the rest is zeros."""
    spatial, rank = spatial_of(node), node.rank_of()
    sizes = node.sizes("output_size")
    if rank is None or len(sizes) != spatial:
        raise Unsupported(f"{node.operator} of a tensor whose rank is not known")
    at = node.tensor_index("self")
    word: Any = node.shape(at)
    x = node.x()
    lead = list(range(rank - spatial))
    own = [node.call("size", x, axis=i) for i in lead]
    given = [node.as_found(each) for each in node.argument("output_size")]
    area, found = dims.product(sizes), given[0]
    for each in given[1:]:
        found = node.call("*", found, each)
    flat = node.shape_literal([*word[: len(lead)], area], node.list_of([*own, found]))
    zeros = node.call("zeros", flat, to=node.elem_of() or elements.DEFAULT)
    seen = [*word[: len(lead)], dims.product(list(word[len(lead) :]))]
    count: Expression = node.call("size", x, axis=len(lead))
    for axis in range(len(lead) + 1, rank):
        count = node.call("*", count, node.call("size", x, axis=axis))
    as_rows = node.shape_literal(seen, node.list_of([*own, count]))
    numbers, values = (node.call("reshape", each, as_rows) for each in (node.x("indices"), x))
    made = node.call("scatter_elements", zeros, numbers, values, axis=len(lead))
    whole = node.shape_literal([*word[: len(lead)], *sizes], node.list_of([*own, *given]))
    return node.call("reshape", made, whole)
