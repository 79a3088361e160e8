"""Images: columns and blocks, sizes between the sizes, and what is seen from elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.layers.convolution import batched
from axon.importers.torch.rules.layers.pools import spatial_of
from axon.importers.torch.rules.registry import ANY_SHAPE, SAME_RANK, rule
from axon.ops.families.resample import WHOLE
from axon.types import dim as dims
from axon.types.type import Shape

# --- columns and blocks ----------------------------------------------------------------------


def _window(node: TorchNode) -> dict[str, Any]:
    names = {"stride": "stride", "pad": "padding", "dilation": "dilation"}
    usual = {"stride": 1, "pad": 0, "dilation": 1}
    return {ours: node.integers(theirs, [usual[ours]]) for ours, theirs in names.items()}


@rule("im2col")
def im2col(node: TorchNode) -> Made:
    at, how = node.tensor_index("self"), _window(node)

    def make(x: Expression, word: Shape | None) -> Expression:
        return node.call("im2col", x, window=node.integers("kernel_size"), **how)

    return batched(node, at, 2, make, lambda: node.declared("t p -> t ?r", at))


@rule("col2im")
def col2im(node: TorchNode) -> Made:
    at, how = node.tensor_index("self"), _window(node)
    sizes = node.shape_of_argument("output_size", node.sizes("output_size"))
    window = node.shape_literal(node.integers("kernel_size"))

    def make(x: Expression, word: Shape | None) -> Expression:
        return node.call("col2im", x, sizes, window, **how)

    return batched(node, at, 1, make, lambda: node.declared("t p -> t ?r", at))


@rule("pixel_shuffle", "pixel_unshuffle")
def pixel_shuffle(node: TorchNode) -> Made:
    grows = node.operator == "pixel_shuffle"
    block = node.integer("upscale_factor" if grows else "downscale_factor")
    if block is None or block < 1:
        raise Malformed(f"it has blocks of {block}")
    at, area = node.tensor_index("self"), block * block
    operator = "depth_to_space" if grows else "space_to_depth"
    word: Any = node.shape(at)
    x = node.input(at)
    if word is not None and len(word) == 4:
        return node.call(operator, x, block=block, blocks_first=False)
    if word is not None and len(word) > 4:
        own = [node.call("size", x, axis=i) for i in range(len(word))]
        count = own[0]
        for each in own[1:-3]:
            count = node.call("*", count, each)
        sizes = [dims.product(list(word[:-3])), *word[-3:]]
        flat = node.call("reshape", x, node.shape_literal(sizes, node.list_of([count, *own[-3:]])))
        return _unflattened(node, node.call(operator, flat, block=block, blocks_first=False))
    if word is not None and len(word) == 3:
        alone = node.call("expand_dims", x, axis=[0])
        made = node.call(operator, alone, block=block, blocks_first=False)
        return node.call("squeeze", made, axis=[0])
    large, small = f"[{area}*c,h,w]", f"[c,{block}*h,{block}*w]"
    before, after = (large, small) if grows else (small, large)
    return node.declared(f"t batch@{before} -> t batch@{after}", at)


def _unflattened(node: TorchNode, made: Expression) -> Expression:
    """Images in the leading shape that the input has."""
    word: Any = node.shape(node.tensor_index("self"))
    name = f"{node.outputs[0]}/images"
    run = node.part_of(node.inputs, [name])
    run.set_outputs(made)
    node.alone = True
    found: Any = node.importer.shape(name)
    x, made = node.x(), node.tensor(name)
    if found is None:  # it was refused
        return made
    own = [node.call("size", x, axis=i) for i in range(len(word) - 3)]
    own += [node.call("size", made, axis=i) for i in (1, 2, 3)]
    sizes = [*word[:-3], *found[1:]]
    return node.call("reshape", made, node.shape_literal(sizes, node.list_of(own)))


@rule("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(node: TorchNode) -> Made:
    """Channels in groups, dealt out like cards: the second axis."""
    groups, rank, x = node.integer("groups"), node.rank_of(), node.x()
    if rank is None or rank < 3 or groups is None or groups < 1:
        return node.type_of(x)
    word: Any = node.shape(node.tensor_index("self"))
    own = [node.call("size", x, axis=i) for i in range(rank)]
    each = dims.floordiv(word[1], groups)
    part = node.call("//", own[1], node.literal(groups))
    cut = node.shape_literal(
        [word[0], groups, each, *word[2:]],
        node.list_of([own[0], node.literal(groups), part, *own[2:]]),
    )
    order = [0, 2, 1, *range(3, rank + 1)]
    dealt = node.call("transpose", node.call("reshape", x, cut), perm=order)
    return node.call("reshape", dealt, node.shape_literal(list(word), node.list_of(own)))


# --- other sizes -----------------------------------------------------------------------------


@rule(
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
    "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d",
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
    "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa",
)  # fmt: skip
def upsample(node: TorchNode) -> Made:
    spatial = spatial_of(node)
    name = "input" if "input" in node.attributes else "self"
    at = node.tensor_index(name)
    x = node.ranked(at, spatial + 2)
    axes = list(range(-spatial, 0))
    way = _way(node)
    factors = _factors(node, spatial)
    made = _resized(node, x, at, axes, factors, way or {})
    return node.type_of(made) if way is None else made


def _way(node: TorchNode) -> dict[str, Any] | None:
    """How elements are found, in Axon's words; None if there are none for it."""
    kind, corners = node.operator, node.flag("align_corners")
    if "nearest_exact" in kind:
        return {"mode": "nearest", "coordinates": "half_pixel", "rounding": "prefer_ceil"}
    if "nearest" in kind:
        return {"mode": "nearest", "coordinates": "asymmetric", "rounding": "floor"}
    way: dict[str, Any] = {"mode": "cubic" if "cubic" in kind else "linear"}
    way["coordinates"] = "align_corners" if corners else "half_pixel"
    if kind.endswith("_aa"):
        if corners or "lanczos" in kind:
            return None
        way |= {"antialias": True, "exclude_outside": True}
        if way["mode"] == "cubic":
            way["cubic"] = -0.5
    return way


def _factors(node: TorchNode, spatial: int) -> list[float] | None:
    """How many times as large the sizes become, if the program says it."""
    given = node.argument("scale_factors")
    if given is not None:
        every = given if isinstance(given, tuple) else (given,)
    else:
        names = [f"scales_{side}" for side in "dhw"[-spatial:]] if spatial > 1 else ["scales"]
        every = tuple(node.argument(name) for name in names)
    if len(every) == 1:
        every *= spatial
    if any(each is None for each in every) or len(every) != spatial:
        return None
    if not all(isinstance(each, int | float) and 0 < each < math.inf for each in every):
        raise Unsupported(f"{node.operator} by factors that are not known")
    return [float(each) for each in every]


def _resized(
    node: TorchNode,
    x: Expression,
    at: int,
    axes: list[int],
    factors: list[float] | None,
    way: dict[str, Any],
) -> Expression:
    """A size is told, or follows from a factor; then the factor is also that of the places."""
    told = node.argument("output_size") is not None
    corners = way.get("coordinates") == "align_corners"  # which the sizes alone decide
    if factors is None or (told and corners):
        if not told:
            raise Malformed("neither sizes nor factors are given")
        sizes = node.sizes("output_size")
        if len(sizes) != len(axes):
            raise Malformed("it does not have a size for each axis")
        return node.call(
            "resize", x, node.shape_of_argument("output_size", sizes), axis=axes, **way
        )
    before = [node.dim(at, axis) for axis in axes]
    if told:
        wanted = node.sizes("output_size")
    else:
        wanted = [_scaled(size, factor) for size, factor in zip(before, factors, strict=True)]
    if corners and None not in wanted:
        held = node.list_of(
            [_scaled_size(node, x, *each) for each in zip(axes, factors, strict=True)]
        )
        return node.call("resize", x, node.shape_literal(wanted, held), axis=axes, **way)
    short = [int(f) if f.is_integer() else f for f in factors]
    made = node.call("resize", x, scale=short, axis=axes, **way)
    if not told and all(_is_exact(factor) for factor in factors):
        return made
    word = node.shape(at)
    if word is None:
        word = tuple([node.fresh_dim() for _ in range(len(axes) + 2)])
    every = [*word[: -len(axes)], *node.sizes_or_fresh(wanted)]
    return node.shaped(made, every)


def _scaled_size(node: TorchNode, x: Expression, axis: int, factor: float) -> Expression:
    """The size that a factor makes, as a run finds it."""
    size = node.cast(node.call("size", x, axis=axis), "f64")
    return node.cast(node.call("floor", node.call("*", size, node.scalar(factor, "f64"))), "i64")


def _is_exact(factor: float) -> bool:
    """Whether the operator can compute the size from the factor."""
    exact = Fraction(factor)
    return exact.denominator <= WHOLE and exact.numerator < 1 << 20


def _scaled(size: Any, factor: float) -> Any:
    """The size times the factor, rounded down; None where that rests on how floats are rounded."""
    if isinstance(size, int):
        return math.floor(size * factor)
    if size is None or not _is_exact(factor):
        return None
    exact = Fraction(factor)
    return dims.floordiv(dims.scale(exact.numerator, size), exact.denominator)


# --- from elsewhere --------------------------------------------------------------------------

MODES = ("linear", "nearest", "cubic")
PADDINGS = ("zeros", "border", "reflection")


@rule("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(node: TorchNode) -> Made:
    mode, padding = node.integer("interpolation_mode", 0), node.integer("padding_mode", 0)
    at = [node.tensor_index(name) for name in ("input", "grid")]
    ranks = [node.rank(i) for i in at]
    rank = ranks[0] or ranks[1]
    if node.operator != "grid_sampler":
        rank = int(node.operator[-2]) + 2
    if rank not in (4, 5):
        return node.declared(SAME_RANK, at[0])
    if mode not in range(len(MODES)) or padding not in range(len(PADDINGS)):
        raise Malformed("its modes are not numbers from 0 to 2")
    return node.call(
        "grid_sample",
        *(node.ranked(i, rank) for i in at),
        mode=MODES[mode or 0],
        padding=PADDINGS[padding or 0],
        align_corners=node.flag("align_corners"),
    )


@rule("affine_grid_generator")
def affine_grid(node: TorchNode) -> Made:
    sizes, at = node.sizes("size"), node.tensor_index("theta")
    if len(sizes) not in (4, 5):
        return node.declared(ANY_SHAPE, at)
    given = node.argument("size")
    held = node.list_of([node.as_found(each) for each in given[2:]])
    return node.call(
        "affine_grid",
        node.ranked(at, 3),
        node.shape_literal(sizes[2:], held),
        dimensions=len(sizes) - 2,
        align_corners=node.flag("align_corners"),
    )
