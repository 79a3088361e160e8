"""Attention, and what goes with it."""

from __future__ import annotations

import math
from typing import Any

from axon.importers.contents import arithmetic as contents
from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule
from axon.ops.attention import UPDATES
from axon.types import dim as dims
from axon.types.type import Shape, Tensor

GIVEN = {0: "raw", 1: "capped", 2: "masked", 3: "weights"}
"""What the fourth output of Attention is, by its mode."""


@rule("Attention")
def attention(node: Node) -> None:
    """Queries, keys and values have heads of their own, or all of them in the last dimension."""
    words = [node.shape(i) for i in range(3)]
    q, k, v = words
    if q is None or k is None or v is None or len(q) not in (3, 4):
        node.set_outputs(opaque(node, q, v))
        return
    packed = len(q) == 3
    heads, key_heads = _head_counts(node, q, k)
    groups = groups_of(heads, key_heads)
    if groups is None or len(k) != len(q) or len(v) != len(q):
        node.set_outputs(opaque(node, q, v))
        return
    queries = _unpacked(node, node.input(0), q, heads) if packed else node.input(0)
    keys, start, total = _cached(node, 1, k, key_heads)
    values, _, _ = _cached(node, 2, v, key_heads)
    values = as_elem(node, values, node.elem(2), node.elem(0))
    parts = [queries, keys, values, *_masks(node, total)]
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
    if packed:
        width = v[2] if groups == 1 else contents.mul(heads, _share(v[2], key_heads))
        shape: list[Any] = [q[0], q[1], width]
        together = node.call("transpose", made, perm=[0, 2, 1, 3])
        made = node.call("reshape", together, node.shape_literal(shape))
    node.set_outputs(made)
    if len(node.outputs) > 3 and node.outputs[3]:
        mode = GIVEN[node.attribute("qk_matmul_output_mode", 0)]
        shown = node.call("dot_product_attention", *parts, **options, give=mode)
        node.set_outputs(None, None, None, shown)


def opaque(node: Node, q: Shape | None, v: Shape | None) -> Tensor:
    """What is known of the result where the heads are not."""
    elem = node.elem(0)
    if q is None or v is None or len(q) != len(v):
        return node.unknown(elem)
    if len(q) == 4:
        return Tensor(elem, (*q[:3], v[3]))
    heads, key_heads = node.attribute("q_num_heads"), node.attribute("kv_num_heads")
    last: Any = v[2]
    if heads != key_heads:
        known = groups_of(heads, key_heads) is not None
        last = contents.mul(heads, _share(last, key_heads)) if known else node.fresh_dim()
    return Tensor(elem, (*q[:2], last))


def _head_counts(node: Node, q: Shape, k: Shape) -> tuple[Any, Any]:
    if len(q) == 4 and len(k) == 4:
        return q[1], k[1]
    return node.attribute("q_num_heads"), node.attribute("kv_num_heads")


def groups_of(heads: Any, key_heads: Any) -> int | None:
    """How many heads of queries share one of the keys, if that is known."""
    if heads is None or key_heads is None:
        return None
    if isinstance(heads, int) and heads < 1:
        return None
    if contents.same(heads, key_heads):
        return 1
    if not isinstance(heads, int) or not isinstance(key_heads, int) or key_heads < 1:
        return None
    return heads // key_heads if heads % key_heads == 0 else None


def _share(size: Any, heads: Any) -> Any:
    """A head's share of a packed dimension, which has no rest."""
    if isinstance(size, int) and size % heads:
        raise Unsupported(f"heads of {size} numbers, cut in {heads}")
    return dims.floordiv(size, heads)


def _unpacked(node: Node, x: Expression, word: Shape, heads: int) -> Expression:
    """From `[b,s,heads*k]` to `[b,heads,s,k]`."""
    shape: list[Any] = [word[0], word[1], heads, _share(word[2], heads)]
    apart = node.call("reshape", x, node.shape_literal(shape))
    return node.call("transpose", apart, perm=[0, 2, 1, 3])


def _cached(node: Node, index: int, word: Shape, heads: Any) -> tuple[Expression, Any, Any]:
    """Keys or values, behind those of before; where the first of them stands, and how many there
    are in the end. What is kept for the next time is an output.
    """
    x: Expression = node.input(index)
    count: Any = word[-2]
    start: Any = 0
    if len(word) == 3:
        x, count = _unpacked(node, x, word, heads), word[1]
    if node.has(index + 3):
        x = node.call("concat", node.input(index + 3), x, axis=2)
        node.infer(x)
        past = node.shape(index + 3)
        if past is None or len(past) != 4:
            raise Unsupported("Attention with a past of unknown rank")
        start, count = past[2], contents.add(past[2], count)
    if len(node.outputs) > index and node.outputs[index]:
        node.set_outputs(*[None] * index, x)
        x = node.tensor(node.outputs[index])
    return x, start, count


def _masks(node: Node, total: Any) -> list[Expression]:
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
    return node.call("cast", x, to=Elem(wanted)) if known and elem != wanted else x


@rule("RotaryEmbedding")
def rotary_embedding(node: Node) -> None:
    """The angles are given for all positions, of which some are taken, or for each token."""
    rank = node.rank(0)
    heads = node.attribute("num_heads", 0)
    if rank not in (3, 4) or (rank == 3 and heads < 1):
        node.set_outputs(node.importer.types[node.name(0)])
        return
    angles = [node.input(1), node.input(2)]
    if node.has(3):
        angles = [node.call("gather", each, node.input(3)) for each in angles]
    node.set_outputs(
        node.call(
            "rotary_embedding",
            node.input(0),
            *angles,
            heads=heads if rank == 3 else None,
            interleaved=bool(node.attribute("interleaved", 0)),
        )
    )


@rule("LinearAttention")
def linear_attention(node: Node) -> None:
    update = node.attribute("update_rule", "gated_delta")
    heads, key_heads = node.attribute("q_num_heads"), node.attribute("kv_num_heads")
    if update not in UPDATES or groups_of(heads, key_heads) is None:
        raise Unsupported(f"LinearAttention by {update} with {heads} and {key_heads} heads")
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
            heads=heads,
            key_heads=key_heads,
            update=update,
            scale=node.attribute("scale", 0.0) or None,
        )
    )


@rule("CausalConvWithState")
def causal_conv(node: Node) -> None:
    """Each channel is convolved with what came before it; the last of it is kept."""
    x, filters = node.shape(0), node.shape(1)
    if filters is None or len(filters) != 3 or x is None or len(x) != 3:
        node.set_outputs(node.importer.types[node.name(0)], node.unknown(node.elem(0), 3))
        return
    before = contents.sub(filters[2], 1)
    if node.has(3):
        whole = node.call("concat", node.input(3), node.input(0), axis=2)
    else:
        whole = node.call("pad", node.input(0), before=before, axis=2)
    bias = [node.input(2)] if node.has(2) else []
    y = node.call("conv", whole, node.input(1), *bias, stride=[1], groups=filters[0])
    if node.attribute("activation", "none") in ("silu", "swish"):
        y = node.call("silu", y)
    node.set_outputs(y, node.call("slice", whole, start=x[2], axis=2))
