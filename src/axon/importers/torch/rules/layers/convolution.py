"""Convolutions. What has no batch is a batch of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.importers.windows import shortened, window_fits
from axon.ops.operator import Problem
from axon.ops.sliding import places, sides_of, spread, spread_out
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Shape
from axon.types.variables import ShapeVar

MOST_SPATIAL = 3
WORDS = ("same", "valid")


def batched(
    node: TorchNode,
    at: int,
    spatial: int,
    make: Callable[[Expression, Shape | None], Expression],
    otherwise: Callable[[], Expression],
) -> Expression:
    """What is made of a batch of images, for a tensor that may be one image; if that is not known,
    what is known of both.
    """
    word, x = node.shape(at), node.input(at)
    if word is None:
        return otherwise()
    if len(word) == spatial + 1:
        alone = node.call("expand_dims", x, axis=[0])
        return node.call("squeeze", make(alone, (1, *word)), axis=[0])
    return make(node.ranked(at, spatial + 2), word if len(word) == spatial + 2 else None)


@rule("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv(node: TorchNode) -> Made:
    kind = node.operator
    return convolved(node, int(kind[-2]), "transpose" in kind, False)


@rule("convolution", "_convolution", "convolution_overrideable", "_convolution_mode")
def convolution(node: TorchNode) -> Made:
    rank = node.rank_of("weight") or node.rank_of("input")
    if rank is None:
        return node.declared(
            "(t p, t q) -> t ?r where rank(?r) = rank(p), rank(q) = rank(p)",
            node.tensor_index("input"),
            node.tensor_index("weight"),
        )
    return convolved(node, rank - 2, node.flag("transposed"), True)


def convolved(node: TorchNode, spatial: int, transposed: bool, is_batch: bool) -> Expression:
    """A convolution by the arguments that all of them have; `is_batch` if the input is one."""
    if not 1 <= spatial <= MOST_SPATIAL:
        raise Unsupported(f"{node.operator} over {spatial} dimensions")
    at = node.tensor_index("input")
    extras = _extras(node, spatial) if transposed else None
    slid = _options(node, spatial, transposed, extras)
    filters = node.ranked(node.tensor_index("weight"), spatial + 2)
    rest = [filters] if node.index("bias") is None else [filters, node.x("bias")]
    short = shortened(slid)

    def make(x: Expression, word: Shape | None) -> Expression:
        made = node.call("conv_transpose" if transposed else "conv", x, *rest, **short)
        if not transposed:
            window_fits(node, word, node.shape(node.tensor_index("weight")), slid)
        return made if extras is None else _cut(node, made, word, slid, extras)

    if is_batch:
        return make(node.ranked(at, spatial + 2), node.shape(at))
    return batched(node, at, spatial, make, lambda: _of_any_batch(node, slid, transposed))


def _extras(node: TorchNode, spatial: int) -> list[Dim] | None:
    """What a transposed convolution adds at the end if that is computed from sizes, as
    `output_size=` does; None if it is numbers.
    """
    given = node.argument("output_padding") is not None
    found = node.known_sizes("output_padding") if given else []
    if all(isinstance(each, int) for each in found):
        return None
    if len(found) != spatial or any(each is None for each in found):
        raise Unsupported(f"{node.operator} whose argument `output_padding` is not known")
    return found


def _cut(
    node: TorchNode, made: Expression, word: Shape | None, slid: dict[str, Any], extras: list[Dim]
) -> Expression:
    """A transposed convolution with as much at the end as possible, and the requested part of it.

    A size is `(n - 1)*stride - 2*pad + dilation*(window - 1) + 1`, and what is added to it.
    """
    filters = node.shape(node.tensor_index("weight"))
    known = [n for n in (*(word or ()), *(filters or ())) if not isinstance(n, ShapeVar)]
    rank = len(extras) + 2
    if len(known) != 2 * rank:
        raise Unsupported(f"{node.operator} of a tensor whose rank is not known")
    sizes: list[Dim] = []
    for i, extra in enumerate(extras):
        n, window = known[2 + i], known[rank + 2 + i]
        across = dims.scale(slid["dilation"][i], dims.sub(window, 1))
        least = dims.add(dims.scale(slid["stride"][i], dims.sub(n, 1)), across)
        sizes.append(dims.add(dims.add(least, 1 - 2 * slid["pad"][i]), extra))
        for slack in (extra, dims.sub(slid["output_pad"][i], extra)):
            if not isinstance(slack, int):
                node.guard(slack)
            elif slack < 0:
                raise Malformed("its argument `output_padding` is not below the stride")
    starts, ends = [node.literal(0) for _ in sizes], [node.size(size) for size in sizes]
    axes = list(range(2, 2 + len(sizes)))
    part = node.call("slice_by", made, node.list_of(starts), node.list_of(ends), axes=axes)
    return node.shaped(part, [known[0], dims.mul(slid["groups"], known[rank + 1]), *sizes])


def _options(
    node: TorchNode, spatial: int, transposed: bool, extras: list[Dim] | None
) -> dict[str, Any]:
    def spread_over(name: str, usual: int) -> list[int]:
        found = node.integers(name) or [usual]
        if len(found) not in (1, spatial):
            raise Malformed(f"its argument `{name}` is not one number for each dimension")
        return list(spread(tuple(found), spatial))

    given = node.argument("padding")
    if isinstance(given, str) and given not in WORDS:
        raise Malformed(f"its argument `padding` is {given}")
    slid: dict[str, Any] = {
        "stride": spread_over("stride", 1),
        "pad": given if isinstance(given, str) else spread_over("padding", 0),
        "dilation": spread_over("dilation", 1),
        "groups": node.size_item(node.attributes.get("groups", 1)),
    }
    if given == "valid" or (given is None and node.operator == "_convolution_mode"):
        slid["pad"] = [0] * spatial
    if extras is not None:
        sides = zip(slid["stride"], slid["dilation"], strict=True)
        slid["output_pad"] = [max(side) - 1 for side in sides]
    elif transposed:
        slid["output_pad"] = spread_over("output_padding", 0)
    return slid


def _of_any_batch(node: TorchNode, slid: dict[str, Any], transposed: bool) -> Expression:
    """The convolution of one image, or of a batch of them."""
    word = node.shape(node.tensor_index("weight"))
    count = len(slid["stride"])
    listed: dict[str, Any] = {
        name: v if isinstance(v, str) else tuple(v) for name, v in slid.items() if name != "groups"
    }
    extras = listed.pop("output_pad", (0,) * count)
    sides = sides_of(count, listed["stride"], listed["pad"], listed["dilation"])
    if isinstance(sides, Problem):
        raise Malformed(sides.text)
    groups = slid["groups"]
    if not isinstance(groups, int):
        raise Unsupported(f"{node.operator} in groups of a number that is not known")
    own = [*("k", "c"), *(side.window for side in sides)]
    if transposed:
        own[:2] = ["c", "k"]
    if word is not None:
        own = [str(n) if isinstance(n, int) else name for name, n in zip(own, word, strict=True)]
    filters = list(own)
    windows = [replace(side, window=n) for side, n in zip(sides, own[2:], strict=True)]
    if transposed:
        channels, made = own[0], f"{groups}*{own[1]}"
        spatial = [spread_out(s, e) for s, e in zip(windows, extras, strict=True)]
    else:
        channels, made = f"{groups}*{own[1]}", own[0]
        spatial = [places(side) for side in windows]
    x = ",".join([channels, *(side.input for side in sides)])
    y = ",".join([made, *spatial])
    return node.declared(
        f"(t batch@[{x}], t [{','.join(filters)}]) -> t batch@[{y}]",
        node.tensor_index("input"),
        node.tensor_index("weight"),
    )


@rule("conv_tbc")
def conv_tbc(node: TorchNode) -> Made:
    x, filters = (node.ranked(node.tensor_index(name), 3) for name in ("self", "weight"))
    return node.call("conv_tbc", x, filters, node.x("bias"), pad=node.integer("pad", 0))
