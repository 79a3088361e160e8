"""Attention by PyTorch's `scaled_dot_product_attention`, wherever a program has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn import functional

from axon.backends.attention_pattern import Attention, attentions
from axon.backends.fusion import Body, Fusion
from axon.backends.torch_derived import is_derived, is_transformed
from axon.ops.arrays import Array, Meaning

Way = Callable[..., Array]


def derivable(fused: Way, usual: Way, *tensors: Array) -> Array:
    """What `fused` computes. Its kernels have a derivative, and nothing more: where derivatives of
    derivatives, or those along a direction, are asked for, it is computed the usual way.
    """
    if torch.compiler.is_compiling():
        return fused(*tensors)
    if is_transformed():
        return usual(*tensors)
    if is_derived(*tensors):
        found: Array = _Fused.apply(fused, usual, *tensors)
        return found
    return fused(*tensors)


class _Fused(torch.autograd.Function):  # type: ignore[misc]
    """A derivative that shall have one itself is that of the usual way."""

    @staticmethod
    def forward(ctx: Any, fused: Way, usual: Way, *tensors: Array) -> Array:
        ctx.usual = usual
        ctx.save_for_backward(*tensors)
        with torch.enable_grad():
            ctx.own = [
                x.detach().requires_grad_(wanted)
                for x, wanted in zip(tensors, ctx.needs_input_grad[2:], strict=True)
            ]
            ctx.made = fused(*ctx.own)
        return ctx.made.detach()

    @staticmethod
    def backward(ctx: Any, *grads: Array) -> Any:
        tensors, made, twice = ctx.own, ctx.made, torch.is_grad_enabled()
        if twice:
            tensors = ctx.saved_tensors
            made = ctx.usual(*tensors)
        wanted = [x for x, needed in zip(tensors, ctx.needs_input_grad[2:], strict=True) if needed]
        found = iter(
            torch.autograd.grad(made, wanted, grads, create_graph=twice, retain_graph=True)
        )
        return None, None, *(next(found) if n else None for n in ctx.needs_input_grad[2:])


def fused_attention(body: Body) -> Iterator[Fusion]:
    """The attention that a body writes out."""
    for found in attentions(body):
        rest = [x for x in (found.mask, found.factor) if x is not None]
        yield Fusion(found.result, _meaning(found), (*found.operands, *rest), found.inner)


def _meaning(pattern: Attention) -> Meaning:
    def attention(xp: Any, *tensors: Array) -> Array:
        def usual(*tensors: Array) -> Array:
            return pattern.written_out(xp, *tensors)

        def fused(*tensors: Array) -> Array:
            return _fused(pattern, *tensors)

        if any(0 in x.shape for x in tensors[:3]):
            return usual(*tensors)
        return derivable(fused, usual, *tensors)

    return attention


def _fused(pattern: Attention, q: Array, k: Array, v: Array, *rest: Array) -> Array:
    if pattern.turned:
        k = k.transpose(-1, -2)
    if pattern.factor is not None:
        q = q / rest[-1] if pattern.divided else q * rest[-1]
    batch = q.shape[:-2]
    mask = rest[0] if pattern.mask is not None else None
    some = None
    if mask is not None:
        mask = mask if mask.ndim > 1 else mask[None]
        mask, some = opened(mask)
        if mask.ndim > 2 and len(batch) != 2:
            mask = _of_heads(mask.expand(*batch, *mask.shape[-2:]), len(batch))
    heads = [_of_heads(x, len(batch)) for x in (q, k, v)]
    made = functional.scaled_dot_product_attention(
        heads[0], heads[1], heads[2], mask, is_causal=pattern.causal, scale=pattern.scale
    ).reshape(*batch, q.shape[-2], v.shape[-1])
    return made if some is None else torch.where(some, made, math.nan)


def _of_heads(x: Array, batched: int) -> Array:
    """With two dimensions before those of a matrix."""
    if batched == 2:
        return x
    return x.unsqueeze(0).unsqueeze(0) if not batched else x.reshape(-1, 1, *x.shape[-2:])


def opened(mask: Array) -> tuple[Array, Array]:
    """A mask that closes all keys to no query, and which queries it left some: what a kernel makes
    of the others, and of their derivatives, differs.
    """
    as_bool = mask.dtype == torch.bool
    some = (mask if as_bool else mask != -torch.inf).any(-1, keepdim=True)
    return torch.where(some, mask, True if as_bool else 0.0), some
