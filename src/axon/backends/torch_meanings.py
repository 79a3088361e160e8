"""Operators for which PyTorch has a markedly better way than their definition: one kernel for
several, with a derivative of its own. Where the better way does not apply, the definition does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import torch
from torch.nn import functional

from axon.backends.torch_elements import DTYPES
from axon.backends.torch_sdpa import derivable, opened
from axon.backends.torch_unsigned import UNSIGNED, Around, around_unsigned, on_host
from axon.ops import Operator
from axon.ops.arrays import Array, Meaning, Value, wide
from axon.ops.families import (
    activations,
    attention,
    bits,
    convolution,
    indexing,
    normalise,
    pools,
    quantise,
    reductions,
)
from axon.ops.operator import Ints
from axon.ops.sliding import slides_of

BETTER: dict[int, Meaning] = {}
"""By the identity of the operator."""

IN_ROWS: dict[int, Meaning] = {}
"""Those of them that are written against the namespace, and so for values of rows too."""

Kept = dict[Any, Any]


def better(operator: Operator, in_rows: bool = False) -> Callable[[Meaning], Meaning]:
    """Use a function in place of the operator's meaning; it may ask for that one with `_usual`."""

    def register(meaning: Meaning) -> Meaning:
        BETTER[id(operator)] = meaning
        if in_rows:
            IN_ROWS[id(operator)] = meaning
        return meaning

    return register


def _usual(operator: Operator) -> Meaning:
    assert operator.meaning is not None
    return operator.meaning


@cache
def meaning_of(operator: Any, elems: frozenset[str], made: Any) -> Meaning:
    """What an operator does on tensors, of which some have these element types."""
    found: Meaning = BETTER.get(id(operator), operator.meaning)
    around = around_unsigned(operator, elems, made)
    if around is None:
        return found
    return around(operator.meaning if "u64" in elems else found)


@cache
def around_meaning(operator: Any, elems: frozenset[str], made: Any) -> Around | None:
    """What stands for the meaning of an operator on values of rows, made of that."""
    if not elems:
        return _if_unsigned
    own, around = IN_ROWS.get(id(operator)), around_unsigned(operator, elems, made)
    if own is None or "u64" in elems:
        return around
    found = own if around is None else around(own)
    return lambda _: found


@cache
def function_of(operator: Any) -> Meaning:
    """The same of an operator that stands for a function: the types of its operands are known when
    it is called.
    """
    return _if_unsigned(BETTER.get(id(operator), operator.meaning), operator.meaning)


def _if_unsigned(found: Meaning, usual: Meaning | None = None) -> Meaning:
    elsewhere = on_host(usual or found)

    def does(xp: Any, *args: Any, **attributes: Any) -> Value:
        unsigned = any(getattr(arg, "dtype", None) in UNSIGNED for arg in args)
        return (elsewhere if unsigned else found)(xp, *args, **attributes)

    return does


# --- activations -----------------------------------------------------------------------------


@better(activations.relu)
def _(xp: Any, x: Array) -> Array:
    return torch.relu(x)


@better(activations.leaky_relu)
def _(xp: Any, x: Array, slope: float) -> Array:
    return functional.leaky_relu(x, slope)


@better(activations.gelu)
def _(xp: Any, x: Array, approximate: str) -> Array:
    return functional.gelu(x, approximate=approximate)


@better(activations.silu)
def _(xp: Any, x: Array, alpha: float) -> Array:
    return functional.silu(x) if alpha == 1 else _usual(activations.silu)(xp, x, alpha=alpha)


@better(activations.sigmoid)
def _(xp: Any, x: Array) -> Array:
    return torch.sigmoid(x)


# --- normalisation and reductions ------------------------------------------------------------


@better(normalise.softmax)
def _(xp: Any, x: Array, axis: int) -> Array:
    return torch.softmax(x, axis)


@better(normalise.log_softmax)
def _(xp: Any, x: Array, axis: int) -> Array:
    return torch.log_softmax(x, axis)


@better(normalise.layer_norm)
def _(xp: Any, x: Array, *tensors: Array, axes: int, epsilon: float) -> Array:
    scale, bias = (*tensors, None, None)[:2]
    return functional.layer_norm(x, x.shape[x.ndim - axes :], scale, bias, epsilon)


@better(normalise.rms_norm)
def _(xp: Any, x: Array, *scale: Array, axes: int, epsilon: float) -> Array:
    return functional.rms_norm(x, x.shape[x.ndim - axes :], scale[0] if scale else None, epsilon)


@better(normalise.batch_norm)
def _(
    xp: Any, x: Array, scale: Array, bias: Array, mean: Array, variance: Array, epsilon: float
) -> Array:
    if not prod(x.shape):
        return x * 1
    if mean.requires_grad or variance.requires_grad:
        usual = _usual(normalise.batch_norm)
        return usual(xp, x, scale, bias, mean, variance, epsilon=epsilon)
    return functional.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)


@better(normalise.group_norm)
def _(xp: Any, x: Array, *vectors: Array, groups: int, epsilon: float) -> Array:
    if not prod(x.shape):
        return x * 1
    scale, bias = (*vectors, None, None)[:2]
    return torch.group_norm(x, groups, scale, bias, epsilon)


@better(normalise.instance_norm)
def _(xp: Any, x: Array, *vectors: Array, epsilon: float) -> Array:
    if not prod(x.shape):
        return x * 1
    scale, bias = (*vectors, None, None)[:2]
    return torch.group_norm(x, x.shape[1], scale, bias, epsilon)


@better(reductions.mean)
def _(xp: Any, x: Array, axis: Ints | None, keep: bool) -> Array:
    return torch.mean(x, dim=axis, keepdim=keep)


@better(reductions.variance)
def _(xp: Any, x: Array, axis: Ints | None, keep: bool, correction: int) -> Array:
    usual = _usual(reductions.variance)
    sizes = x.shape if axis is None else [x.shape[i] for i in axis]
    if prod(sizes) <= max(correction, 0) or not prod(x.shape):
        return usual(xp, x, axis=axis, keep=keep, correction=correction)
    return torch.var(x, dim=axis, keepdim=keep, correction=correction)


# --- attention -------------------------------------------------------------------------------


@better(attention.dot_product_attention)
def _(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    *rest: Array,
    scale: float | None,
    groups: int,
    causal: bool,
    before: int | None,
    after: int | None,
    offset: int,
    softcap: float,
    give: str,
) -> Array:
    n = k.shape[2]
    simple = give == "values" and not softcap and before is None and after is None
    fits = simple and not offset and 0 not in (*q.shape, *k.shape, *v.shape)
    if not fits or len(rest) > 1 or (rest and (causal or rest[0].shape[-1:] != (n,))):
        return _usual(attention.dot_product_attention)(
            xp, q, k, v, *rest, scale=scale, groups=groups, causal=causal, before=before,
            after=after, offset=offset, softcap=softcap, give=give,
        )  # fmt: skip
    mask = rest[0] if rest else None
    if mask is not None:
        mask = mask if mask.ndim > 1 else mask.expand(1, n)
        mask = mask if mask.dtype == torch.bool else mask.to(q.dtype)
    some = None
    if mask is not None and q.device.type != "cpu":
        mask, some = opened(mask)

    def usual(q: Array, k: Array, v: Array, *mask: Array) -> Array:
        return _usual(attention.dot_product_attention)(
            xp, q, k, v, *mask, scale=scale, groups=groups, causal=causal, before=None,
            after=None, offset=0, softcap=0.0, give="values",
        )  # fmt: skip

    def fused(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
        return functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=causal, scale=scale, enable_gqa=groups != 1
        )

    made = derivable(fused, usual, q, k, v, *(() if mask is None else (mask,)))
    return made if some is None else torch.where(some, made, 0)


# --- images ----------------------------------------------------------------------------------

CONVOLUTIONS: dict[int, Any] = {
    1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d,
}  # fmt: skip
TRANSPOSED: dict[int, Any] = {
    1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d,
}  # fmt: skip
MEANS: dict[int, Any] = {
    1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d,
}  # fmt: skip


@better(convolution.conv)
def _(
    xp: Any,
    x: Array,
    f: Array,
    *bias: Array,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
) -> Array:
    slides = slides_of(x.shape[2:], f.shape[2:], stride, pad, dilation, False)
    even = all(s.before == s.after for s in slides)
    if not even or len(slides) > 3 or not x.is_floating_point() or 0 in (*x.shape, *f.shape):
        usual = _usual(convolution.conv)
        given = {"stride": stride, "pad": pad, "dilation": dilation, "groups": groups}
        return usual(xp, x, f, *bias, **given)
    steps, apart = [s.stride for s in slides], [s.dilation for s in slides]
    around = [s.before for s in slides]
    return CONVOLUTIONS[len(slides)](x, f, *(bias or (None,)), steps, around, apart, groups)


@better(convolution.conv_transpose)
def _(
    xp: Any,
    x: Array,
    f: Array,
    *bias: Array,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
    output_pad: Ints,
) -> Array:
    """All that the filters cover, cut to size."""
    count = x.ndim - 2
    if count > 3 or not x.is_floating_point() or 0 in (*x.shape, *f.shape):
        usual = _usual(convolution.conv_transpose)
        return usual(
            xp, x, f, *bias, stride=stride, pad=pad, dilation=dilation, groups=groups,
            output_pad=output_pad,
        )  # fmt: skip
    slides, sizes = convolution.covered(x, f, stride, pad, dilation, output_pad)
    steps, apart = [s.stride for s in slides], [s.dilation for s in slides]
    whole = TRANSPOSED[count](x, f, None, steps, 0, 0, groups, apart)
    around = [
        n
        for s, size, n in reversed(list(zip(slides, sizes, whole.shape[2:], strict=True)))
        for n in (-s.before, s.before + size - n)
    ]
    made = functional.pad(whole, around) if any(around) else whole
    for each in bias:
        made = made + each.reshape(-1, *(1,) * count)
    return made


@better(pools.avg_pool)
def _(
    xp: Any,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    count_pad: bool,
) -> Array:
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    plain = all(
        s.before == s.after and not s.hang and s.dilation == 1 and 2 * s.before <= s.window
        for s in slides
    )
    if not plain or len(slides) > 3 or not prod(x.shape):
        return _usual(pools.avg_pool)(
            xp, x, window=window, stride=stride, pad=pad, dilation=dilation,
            ceil_mode=ceil_mode, count_pad=count_pad,
        )  # fmt: skip
    sizes, steps = [s.window for s in slides], [s.stride for s in slides]
    around = [s.before for s in slides]
    return MEANS[len(slides)](x, sizes, steps, around, False, count_pad)


# --- by index --------------------------------------------------------------------------------


@better(indexing.gather)
def _(xp: Any, x: Array, numbers: Array, axis: int) -> Array:
    """The rows of a table by a kernel whose derivative is not sorted."""
    if axis % x.ndim or x.ndim != 2 or not x.is_floating_point():
        return _usual(indexing.gather)(xp, x, numbers, axis=axis)
    numbers = numbers.to(torch.int64)
    return functional.embedding(torch.where(numbers < 0, numbers + x.shape[0], numbers), x)


@better(bits.bit_cast)
def _(xp: Any, x: Array, to: str) -> Array:
    return xp.asarray(x).view(DTYPES[to])


# --- small integers --------------------------------------------------------------------------


def _stored(xp: Any, x: Array, scale: Array, zero: Array) -> Array:
    """In f64, where all sums of two integers of 32 bits are exact."""
    ends, f64 = xp.iinfo(zero.dtype), xp.element("f64")
    steps = xp.astype(xp.rint(x / scale), f64)
    steps = xp.where(xp.isnan(steps), xp.zeros_like(steps), steps)
    return xp.astype(xp.clip(steps + xp.astype(zero, f64), ends.min, ends.max), zero.dtype)


@better(quantise.quantise, in_rows=True)
def _(xp: Any, x: Array, scale: Array, zero: Array) -> Array:
    if zero.dtype == torch.int64 and not xp.narrow:
        return on_host(_usual(quantise.quantise))(xp, x, scale, zero)
    factor = wide(xp, scale)
    return _stored(xp, xp.astype(x, factor.dtype), factor, zero)


@better(quantise.dequantise, in_rows=True)
def _(xp: Any, x: Array, scale: Array, zero: Array) -> Array:
    if zero.dtype == torch.int64 and not xp.narrow:
        return on_host(_usual(quantise.dequantise))(xp, x, scale, zero)
    factor, i64 = wide(xp, scale), xp.element("i64")
    away = xp.astype(xp.astype(x, i64) - xp.astype(zero, i64), factor.dtype)
    return xp.astype(away * factor, scale.dtype)


@better(quantise.quantise_range, in_rows=True)
def _(xp: Any, x: Array) -> Value:
    y = wide(xp, x)
    none = xp.zeros((), dtype=y.dtype)
    low, high = xp.min(y, initial=none), xp.max(y, initial=none)
    scale = (high - low) / 255
    scale = xp.where(scale == 0, xp.ones_like(scale), scale)
    zero = xp.clip(xp.rint(-low / scale), 0, 255)
    zero = xp.astype(xp.where(xp.isnan(zero), xp.zeros_like(zero), zero), xp.element("u8"))
    return _stored(xp, y, scale, zero), xp.astype(scale, x.dtype), zero
