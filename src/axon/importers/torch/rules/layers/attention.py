"""Attention: queries that take a mean of values by how well keys fit."""

from __future__ import annotations

import math
from typing import Any

from axon.contents.arithmetic import same
from axon.importers.expressions import Expression
from axon.importers.heads import groups_of
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule

HEADS = 4
"""The rank of what Axon's own operator takes: batch, heads, sequence, elements."""
MASKS = ("attn_mask", "attn_bias")


@rule("scaled_dot_product_attention")
def scaled_dot_product_attention(node: TorchNode) -> Made:
    return attended(node)


@rule(
    "_scaled_dot_product_attention_math", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_dot_product_attention_math_for_mps",
)  # fmt: skip
def one_of_its_ways(node: TorchNode) -> None:
    """What is beside the values is for gradients, or the weights."""
    kind, made = node.operator, attended(node)
    q, k = (node.tensor_index(name) for name in ("query", "key"))
    rest: Expression | None = None
    if "_math" in kind:
        rest = node.declared("(t p@[m,k], t q@[n,k]) -> t broadcast(p,q)@[m,n]", q, k)
    elif kind.endswith("for_cpu"):
        rest = node.declared("t [b,h,m,k] -> f32 [b,h,m]", q)
    node.set_outputs(made, rest)


def attended(node: TorchNode) -> Expression:
    """The values that queries get."""
    if node.real("dropout_p", 0.0) > 0:
        return node.type_of(_attended(node))
    return _attended(node)


def _attended(node: TorchNode) -> Expression:
    ranks = [node.rank_of(name) for name in ("query", "key", "value")]
    if ranks == [HEADS] * 3 and (groups := _groups(node)) is not None:
        return _by_heads(node, groups)
    if node.flag("enable_gqa"):
        if None in ranks:
            at = node.tensor_index("query"), node.tensor_index("value")
            return node.declared("(t p@[m,k], t q@[n,v]) -> t p@[m,v]", *at)
        raise Unsupported("heads that are shared, of tensors whose heads are not known")
    return _by_products(node)


def _groups(node: TorchNode) -> Any:
    """How many heads of queries share one of the keys; None if a batch may broadcast."""
    words: list[Any] = [node.shape(node.tensor_index(n)) for n in ("query", "key", "value")]
    q, k, v = words
    if not all(same(one, other) for one, other in ((q[0], k[0]), (q[0], v[0]), (k[1], v[1]))):
        return None
    groups = groups_of(q[1], k[1])
    if groups == 1:
        return 1 if same(q[1], k[1]) else None
    return groups if node.flag("enable_gqa") else None


def _by_heads(node: TorchNode, groups: Any) -> Expression:
    parts = [node.x(name) for name in ("query", "key", "value")]
    mask = _mask(node)
    if mask is not None:
        at = node.tensor_index(_mask_name(node))
        word, keys = node.shape(at), node.size_of("key", 2)
        if word is None or not word or (word[-1] == 1 and keys != 1):
            mask = _over_keys(node, mask)  # a shorter mask has another meaning here
        parts.append(mask)
    causal = node.flag("is_causal")
    scale = _scale(node)
    return node.call("dot_product_attention", *parts, scale=scale, groups=groups, causal=causal)


def _mask_name(node: TorchNode) -> str:
    return next((name for name in MASKS if node.index(name) is not None), "")


def _mask(node: TorchNode) -> Expression | None:
    name = _mask_name(node)
    return node.x(name) if name else None


def _over_keys(node: TorchNode, mask: Expression) -> Expression:
    """A mask with a size for each query and each key."""
    sizes = [node.call("size", node.x(name), axis=2) for name in ("query", "key")]
    known = [node.size_of(name, 2) for name in ("query", "key")]
    return node.call("expand", mask, node.shape_literal(known, node.list_of(sizes)))


def _scale(node: TorchNode) -> float | None:
    return None if node.argument("scale") is None else float(node.real("scale", 1.0))


def _by_products(node: TorchNode) -> Expression:
    """Spelled out, where the leading sizes broadcast or are of another number."""
    q, k, v = (node.x(name) for name in ("query", "key", "value"))
    elem, scale = node.elem_of("query"), _scale(node)
    size = node.size_of("query", -1)
    scores = node.call("@", q, node.call("transpose", k))
    if scale is None and isinstance(size, int) and size > 0:
        scale = 1 / math.sqrt(size)
    if scale is None or elem is None:
        scores = node.call("scaled_by_keys", scores, q)
    else:
        scores = node.call("*", scores, node.scalar(scale, elem))
    if node.flag("is_causal"):
        scores = node.call("masked_causally", scores)
    mask = _mask(node)
    if mask is not None:
        masked = node.elem_of(_mask_name(node)) == "bool"
        scores = node.call("masked_scores" if masked else "+", scores, mask)
    return node.call("@", node.call("open_softmax", scores), v)


@rule("_native_multi_head_attention")
def native_multi_head_attention(node: TorchNode) -> None:
    """The result has the shape of the queries; the weights come averaged over the heads."""
    q, k = node.tensor_index("query"), node.tensor_index("key")
    heads = node.integer("num_head") or 0
    if heads < 1:
        raise Malformed(f"it has {heads} heads")
    weights = node.declared("(t [b,m,d], t [b,n,d]) -> t [b,m,n]", q, k)
    if not node.flag("average_attn_weights", True):
        weights = node.declared(f"(t [b,m,d], t [b,n,d]) -> t [b,{heads},m,n]", q, k)
    if not node.flag("need_weights", True):
        weights = node.declared("(t p, t q) -> t ?r", q, k)
    node.set_outputs(node.type_of(node.x("query")), weights)


@rule("_transformer_encoder_layer_fwd")
def transformer_encoder_layer(node: TorchNode) -> Made:
    return node.type_of(node.x("src"))
