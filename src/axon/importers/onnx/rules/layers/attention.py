"""Attention, and what goes with it."""

from __future__ import annotations

import math
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.heads import groups_of
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import SAME_RANK, rule
from axon.importers.operations import Malformed, Unsupported
from axon.ops.families.attention import UPDATES
from axon.types import dim as dims
from axon.types.dim import Dim

GIVEN = {0: "raw", 1: "capped", 2: "masked", 3: "weights"}
"""What the fourth output of Attention is, by its mode."""


@rule("Attention")
def attention(node: Node) -> Made:
    """Queries, keys and values have heads of their own, or all of them in the last dimension."""
    counts = [node.attribute(f"{whose}_num_heads") for whose in ("q", "kv")]
    packed = _packed(node, counts != [None, None])
    if packed is None:
        return node.declared(SAME_RANK, 0)
    parts = [node.ranked(index, 3 if packed else 4) for index in range(3)]
    if packed:
        heads, key_heads = (count if type(count) is int else 0 for count in counts)
        cuts = zip(parts, (heads, key_heads, key_heads), strict=True)
        parts = [node.call("split_heads", part, heads=cut) for part, cut in cuts]
        groups = groups_of(heads, key_heads)
    else:
        groups = groups_of(node.dim(0, 1), node.dim(1, 1))
    count = node.dim(1, 1 if packed else 2) or 0
    keys, start, total = _cached(node, 1, parts[1], count)
    values, _, _ = _cached(node, 2, parts[2], count)
    values = as_elem(node, values, node.elem(2), node.elem(0))
    parts = [parts[0], keys, values, *_masks(node, total)]
    before, after = (node.attribute(f"{side}_window_size", -1) for side in ("left", "right"))
    softcap = node.attribute("softcap", 0.0)
    if not softcap < math.inf:
        raise Unsupported(f"Attention with a softcap of {softcap}")
    options = {
        "scale": node.attribute("scale"),
        "groups": groups,
        "causal": bool(node.attribute("is_causal", 0)),
        "before": before if before >= 0 else None,
        "after": after if after >= 0 else None,
        "offset": start,
        "softcap": max(softcap, 0.0),
    }
    made = node.call("dot_product_attention", *parts, **options)
    if node.wants(3):
        number = node.attribute("qk_matmul_output_mode", 0)
        mode = GIVEN.get(number)
        if mode is None:
            raise Malformed(f"its attribute `qk_matmul_output_mode` is {number}, not one of 0 to 3")
        shown = node.call("dot_product_attention", *parts, **options, give=mode)
        node.set_outputs(None, None, None, shown)
    return node.call("merge_heads", made) if packed else made


def _packed(node: Node, counted: bool) -> bool | None:
    """Whether all heads are in the last dimension, if that is known: the three inputs have the same
    rank, and only then the heads must be counted by attributes.
    """
    ranks = {rank for i in range(3) if (rank := node.rank(i)) is not None}
    if ranks in ({3}, {4}):
        return ranks == {3}
    return counted if ranks or not counted else None


def _cached(node: Node, index: int, x: Expression, count: Dim) -> tuple[Expression, Dim, Dim]:
    """Keys or values, behind those of before; where the first of them stands, and how many there
    are in the end. What is kept for the next time is an output.
    """
    start: Dim = 0
    if node.has(index + 3):
        x = node.call("concat", node.ranked(index + 3, 4), x, axis=2)
        start = node.dim(index + 3, 2) or 0
        count = dims.add(start, count)
    if node.wants(index):
        node.set_outputs(*[None] * index, x)
        x = node.tensor(node.outputs[index])
    return x, start, count


def _masks(node: Node, total: Dim) -> list[Expression]:
    """The mask and the numbers of keys that count, if they are given."""
    masks = [node.input(3)] if node.has(3) else []
    if not node.has(6):
        return masks
    if not masks:
        masks = [node.call("full", node.shape_literal([total]), node.literal(True))]
    return [*masks, node.input(6)]


def as_elem(node: Node, x: Expression, elem: Any, wanted: Any) -> Expression:
    """The tensor with another element type, if both are known and differ."""
    known = isinstance(elem, str) and isinstance(wanted, str)
    return node.cast(x, wanted) if known and elem != wanted else x


@rule("RotaryEmbedding")
def rotary_embedding(node: Node) -> Made:
    """The angles are given for all positions, of which some are taken, or for each token."""
    rank = node.rank(0)
    heads = node.attribute("num_heads", 0)
    if rank is None and heads:
        return node.type_of(node.input(0))
    angles = [node.input(1), node.input(2)]
    if node.has(3):
        angles = [node.call("gather", each, node.input(3)) for each in angles]
    return node.call(
        "rotary_embedding",
        node.input(0),
        *angles,
        heads=heads if rank == 3 else None,
        interleaved=bool(node.attribute("interleaved", 0)),
        size=node.attribute("rotary_embedding_dim", 0),
    )


@rule("LinearAttention")
def linear_attention(node: Node) -> None:
    update = node.attribute("update_rule", "gated_delta")
    counts = [node.attribute(f"{whose}_num_heads") for whose in ("q", "kv")]
    if update not in UPDATES or not all(type(count) is int for count in counts):
        raise Unsupported(f"LinearAttention by {update} with {counts[0]} and {counts[1]} heads")
    gates = [4] * ("gated" in update) + [5] * ("delta" in update)
    parts = [node.input(i) for i in (0, 1, 2)]
    for index in gates:
        parts.append(as_elem(node, node.input(index), node.elem(index), node.elem(0)))
    if node.has(3):
        parts.append(node.input(3))
    node.set_tuple_outputs(
        node.call(
            "linear_attention",
            *parts,
            heads=counts[0],
            key_heads=counts[1],
            update=update,
            scale=node.attribute("scale", 0.0) or None,
        )
    )


@rule("CausalConvWithState")
def causal_conv(node: Node) -> Made:
    """Each channel is convolved with what came before it; the last of it is kept."""
    parts = [node.input(i) for i in range(4) if i < 2 or node.has(i)]
    made = node.call("causal_conv", *parts, state=node.has(3))
    if node.attribute("activation", "none") not in ("silu", "swish"):
        node.set_tuple_outputs(made)
        return None
    before = f"{node.outputs[0]}/convolved"
    node.set_tuple_outputs(made, (before, *node.outputs[1:]))
    return node.call("silu", node.tensor(before))
