"""Attention: what a sequence takes from another one, and the positions of its elements."""

from __future__ import annotations

import math
from typing import Any

from axon.ops.arrays import Array, Arrays, Value, wide
from axon.ops.operator import Extent, Problem, Rule, operator
from axon.ops.padding import TrueSizes, taken
from axon.ops.traits import Padding, Traits

FAR = 1 << 60

GIVEN = ("values", "raw", "capped", "masked", "weights")
UPDATES = ("linear", "gated", "delta", "gated_delta")


@operator(
    Traits(
        padding=Padding(
            ("b", "h", "m", "v", "~h"), {"n": "zero", "k": "zero", "l": "zero", "p": "zero"}
        )
    ),
    roles={"k": "key sizes", "n": "numbers of keys", "b": "batch sizes"},
)
def dot_product_attention(
    arity: int,
    *,
    scale: float | None = None,
    groups: Extent = 1,
    causal: bool = False,
    before: int | None = None,
    after: int | None = None,
    offset: Extent = 0,
    softcap: float = 0.0,
    give: str = "values",
) -> Rule:
    """Queries `[b,h,m,k]` look up keys `[b,h,n,k]` and take a mean of the values `[b,h,n,v]`, by
    weights that add up to 1; a query that no key is open to gets zeros.

    A mask may follow, of a shape that broadcasts to `[b,h,m,n]`: truth values state which keys are
    open, numbers are added to the scores. It may be shorter than the keys; the rest is closed.
    Then the
    number of keys that count may follow, one for each of the batch: the last query stands at the
    last of them.

    - `scale`: what the products of queries and keys are multiplied by; `1 / sqrt(k)` if not given.
    - `groups`: how many heads of queries share a head of keys and values.
    - `causal`: no query looks at keys behind its own place.
    - `before`, `after`: how many keys before and behind its own place a query looks at; all of
      them if not given.
    - `offset`: the place of the first query among the keys.
    - `softcap`: a score that is never reached, by `softcap * tanh(score / softcap)`; 0 for none.
    - `give`: "values", or the scores `[b,h,m,n]` on the way to them: "raw", "capped", "masked", and
      then the "weights".

    >>> dot_product_attention(q : f32 [b,4,m,8], k : f32 [b,4,n,8], v : f32 [b,4,n,5])
    f32 [b,4,m,5]
    >>> dot_product_attention(q : f32 [b,h,m,8], k : f32 [b,h,m,8], v : f32 [b,h,m,5], causal=true)
    f32 [b,h,m,5]
    >>> dot_product_attention(q : f32 [b,4,m,8], k : f32 [b,2,n,8], v : f32 [b,2,n,5],
    ... mask : bool [m,n], groups=2, give="weights")
    f32 [b,4,m,n]
    """
    if not 3 <= arity <= 5:
        return Problem(
            "dot_product_attention takes queries, keys and values, and perhaps a mask and the "
            f"numbers of keys; {arity} arguments are given"
        )
    if isinstance(groups, int) and groups < 1:
        return Problem("groups must be at least 1")
    if any(size is not None and size < 0 for size in (before, after)):
        return Problem("before and after must be at least 0")
    if isinstance(offset, int) and offset < 0:
        return Problem("offset must be at least 0")
    if not 0 <= softcap < math.inf:
        return Problem(f"softcap is {softcap:g}; it must be a number, and at least 0")
    if give not in GIVEN:
        return Problem(f'give is "{give}"; it can be {", ".join(GIVEN)}')
    heads, where = _times(groups, "h"), "t : float"
    if isinstance(groups, str):
        heads, where = "a", f"t : float, a mod h = 0, a/h = {groups}"
    rest = [", u p@[l]", ", i [b]"][: arity - 3]
    result = f"t [b,{heads},m,{'v' if give == 'values' else 'n'}]"
    if arity > 3:
        where += f", n >= l, [b,{heads},m] = broadcast(p,[b,{heads},m])"
    if arity > 4:
        where += ", i : int"
    return f"(t [b,{heads},m,k], t [b,h,n,k], t [b,h,n,v]{''.join(rest)}) -> {result} where {where}"


@dot_product_attention.means
def _(xp: Arrays, *operands: Array, **attributes: Any) -> Array:
    q, k, v = operands[:3]
    sizes = (q.shape[2], k.shape[2], q.shape[3], operands[3].shape[-1] if operands[3:] else 0)
    return _attention(xp, sizes, q, k, v, *operands[3:], **attributes)


@dot_product_attention.padded
def _(xp: Arrays, true: TrueSizes, *operands: Array, **attributes: Any) -> Array:
    _, _, m, size = true.of(0)
    last = true.of(3)[-1] if len(operands) > 3 else 0
    return _attention(xp, (m, true.of(1)[2], size, last), *operands, **attributes)


Sizes = tuple[Any, Any, Any, Any]
"""The numbers of queries and of keys, the size of a key, and how many keys a mask is for: numbers
that are known only when the compiled program runs, where they are padded.
"""


def _attention(
    xp: Arrays,
    true: Sizes,
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
    b, heads, m, _ = q.shape
    n = k.shape[2]
    raw = _scores(xp, q, k, groups, scale, true[2])
    capped = softcap * xp.tanh(raw / softcap) if softcap else raw
    open_ = _open(xp, m, n, offset, before, 0 if causal else after, rest[1:], true)
    masked = _masked(xp, capped, rest[:1], open_, true[3])
    closed = bool(rest) or before is not None
    weights = _weights(xp, masked, closed)
    if give == "values":
        grouped = weights.reshape(b, heads // groups, groups, m, n)
        made = xp.wide_matmul(grouped, v[:, :, None]).reshape(b, heads, m, v.shape[3])
    else:
        made = {"raw": raw, "capped": capped, "masked": masked, "weights": weights}[give]
    return xp.astype(made, q.dtype)


def _scores(xp: Arrays, q: Array, k: Array, groups: int, scale: float | None, true: Any) -> Array:
    """The products of queries and keys, times the scale."""
    b, heads, m, size = q.shape
    factor: Any = scale or 0.0
    if scale is None and isinstance(true, int):
        factor = 1 / math.sqrt(true) if true else 0.0
    elif scale is None:
        factor = 1 / xp.sqrt(xp.astype(xp.asarray(true), wide(xp, q).dtype))
    half = q.dtype.itemsize == 2
    grouped = (q if half else q * factor).reshape(b, heads // groups, groups, m, size)
    products = xp.wide_matmul(grouped, xp.swapaxes(k, 2, 3)[:, :, None])
    return (products * factor if half else products).reshape(b, heads, m, k.shape[2])


def _open(
    xp: Arrays,
    m: int,
    n: int,
    offset: int,
    before: int | None,
    after: int | None,
    lengths: tuple[Array, ...],
    true: Sizes,
) -> Array | None:
    """Which keys are open to which query by their places; None for all."""
    places = xp.arange(n)[None, :]
    own, open_ = xp.arange(m)[:, None], None
    if not isinstance(true[1], int):
        open_ = places < xp.maximum(true[1], 1)  # the values of the padding are zeros
    for ends in lengths:
        ends = xp.astype(ends.reshape(-1, 1, 1, 1), places.dtype)
        own, offset = own + ends - true[0], 0
        open_ = _both(open_, places < ends)
    if before is not None:
        open_ = _both(open_, places >= own + _near(offset - before))
    if after is not None:
        open_ = _both(open_, places <= own + _near(offset + after))
    return open_


def _near(places: int) -> int:
    """A number of places, brought in where it is beyond all that an array can have."""
    return min(max(places, -FAR), FAR)


def _both(a: Array | None, b: Array) -> Array:
    return b if a is None else a & b


def _masked(
    xp: Arrays, scores: Array, mask: tuple[Array, ...], open_: Array | None, true: Any
) -> Array:
    """The scores with the mask, and minus infinity where a key is closed."""
    if not isinstance(true, int):
        open_ = _both(open_, xp.arange(scores.shape[-1]) < true)
    for x in mask:
        hidden = xp.kind(x.dtype) == "b"
        missing = scores.shape[-1] - x.shape[-1]
        around = [(0, 0)] * (x.ndim - 1) + [(0, missing)]
        x = x if hidden else xp.astype(x, scores.dtype)
        padded = xp.pad(x, around, constant_values=False if hidden else -math.inf)
        if hidden:
            open_ = _both(open_, padded)
        else:
            scores = scores + padded
    return scores if open_ is None else xp.where(open_, scores, -math.inf)


def _weights(xp: Arrays, scores: Array, closed: bool) -> Array:
    """Exponentials that add up to 1; where all keys may be closed to a query, they are zeros for
    one that is. What takes care of these is left out where there are none: XLA has a kernel for a
    softmax of just this form.
    """
    top = xp.stop_gradient(xp.max(scores, axis=-1, keepdims=True, initial=-math.inf))
    if not closed:
        powers = xp.exp(scores - top)
        return powers / xp.sum(powers, axis=-1, keepdims=True)
    powers = xp.exp(scores - xp.where(top == -math.inf, 0, top))
    total = xp.sum(powers, axis=-1, keepdims=True)
    return powers / xp.where(total == 0, 1, total)


PACKED = "heads are packed in the last dimension, one behind the other"


@operator(Traits(padding=Padding(("b", "s"), reason=PACKED)))
def split_heads(*, heads: Extent) -> Rule:
    """Give the heads that are packed in the last dimension one of their own, before the sequence.

    - `heads`: how many there are.

    >>> split_heads(x : f32 [b,s,12], heads=4)
    f32 [b,4,s,3]
    """
    if isinstance(heads, int) and heads < 1:
        return Problem("heads must be at least 1")
    some = "" if isinstance(heads, int) else f" where {heads} >= 1"
    return f"(t [b,s,{_times(heads, 'k')}]) -> t [b,{heads},s,k]{some}"


@split_heads.means
def _(xp: Arrays, x: Array, heads: int) -> Array:
    b, s, width = x.shape
    return xp.swapaxes(x.reshape(b, s, heads, width // heads), 1, 2)


@operator(Traits(padding=Padding(("b", "s"), reason=PACKED)))
def merge_heads() -> Rule:
    """Pack heads into the last dimension: the inverse of `split_heads`.

    >>> merge_heads(x : f32 [b,4,s,3])
    f32 [b,s,12]
    """
    return "(t [b,h,s,k]) -> t [b,s,h*k]"


@merge_heads.means
def _(xp: Arrays, x: Array) -> Array:
    b, h, s, k = x.shape
    return xp.swapaxes(x, 1, 2).reshape(b, s, h * k)


@operator(
    Traits(padding=Padding(("b",), {"s": "zero"}, reason=PACKED)),
    roles={"s": "lengths", "b": "batch sizes"},
)
def linear_attention(
    arity: int,
    *,
    heads: int,
    key_heads: int,
    update: str = "linear",
    scale: float | None = None,
) -> Rule:
    """Go through a sequence with a state that remembers values by their keys, and ask it at each
    step: queries `[b,s,heads*k]`, keys `[b,s,key_heads*k]`, values `[b,s,key_heads*v]`, then the
    logarithms of what is kept, `[b,s,key_heads*k]` or one for each head `[b,s,key_heads]`, and the
    rates of learning, `[b,s,key_heads]` or `[b,s,1]`, as far as the update asks for them, then
    perhaps the state to begin with. The results are the answers and the last state.

    - `heads`, `key_heads`: how many heads the queries have, and the keys and values.
    - `update`: "linear" adds each value, "gated" first fades the state, "delta" adds only what the
      state does not know yet, "gated_delta" does both.
    - `scale`: what the answers are multiplied by; `1 / sqrt(k)` if not given.

    >>> linear_attention(q : f32 [b,s,12], k : f32 [b,s,6], v : f32 [b,s,8], heads=4, key_heads=2)
    (f32 [b,s,16], f32 [b,2,3,4])
    >>> linear_attention(q : f32 [b,s,6], k : f32 [b,s,6], v : f32 [b,s,8], g : f32 [b,s,2],
    ... r : f32 [b,s,1], state : f32 [b,2,3,4], heads=2, key_heads=2, update="gated_delta")
    (f32 [b,s,8], f32 [b,2,3,4])
    """
    if update not in UPDATES:
        return Problem(f'update is "{update}"; it can be {", ".join(UPDATES)}')
    if heads < 1 or key_heads < 1 or heads % key_heads:
        return Problem("heads must be a multiple of key_heads, and both at least 1")
    gates, where = [], "t : float"
    if "gated" in update:
        gates.append(f", t [b,s,{_times(key_heads, 'f')}]")
        where += ", [k] = broadcast([f],[k])"
    if "delta" in update:
        gates.append(", t [b,s,r]")
        where += f", [{key_heads}] = broadcast([r],[{key_heads}])"
    least = 3 + len(gates)
    if arity not in (least, least + 1):
        return Problem(
            f"linear_attention takes {least} tensors for this update, and perhaps a state; "
            f"{arity} arguments are given"
        )
    kept = "u" if arity > least else "t"
    memory = f"{kept} [b,{key_heads},k,v]"
    state = f", {memory}" if arity > least else ""
    where += ", u : float" if arity > least else ""
    q, k, v = (_times(heads, "k"), _times(key_heads, "k"), _times(key_heads, "v"))
    return (
        f"(t [b,s,{q}], t [b,s,{k}], t [b,s,{v}]{''.join(gates)}{state})"
        f" -> (t [b,s,{_times(heads, 'v')}], {memory}) where {where}"
    )


def _times(count: Extent, name: str) -> str:
    return name if count == 1 else f"{count}*{name}"


@linear_attention.means
def _(
    xp: Arrays,
    q: Array,
    k: Array,
    v: Array,
    *rest: Array,
    heads: int,
    key_heads: int,
    update: str,
    scale: float | None,
) -> tuple[Array, Array]:
    b, s, width = q.shape
    size = width // heads
    factor = 1 / math.sqrt(size) if scale is None and size else scale or 0.0
    queries = _heads(xp, q, heads).reshape(s, b, key_heads, heads // key_heads, size)
    rows = [queries * factor, _heads(xp, k, key_heads), _heads(xp, v, key_heads)]
    gated, delta = "gated" in update, "delta" in update
    if gated:
        rows.append(xp.exp(_heads(xp, rest[0], key_heads)))
    if delta:
        rate = rest[int(gated)]
        rows.append(_heads(xp, rate, rate.shape[2]))
    shape = (b, key_heads, size, v.shape[2] // key_heads)
    given = rest[gated + delta :]
    begin = wide(xp, given[0]) if given else xp.zeros(shape, dtype=rows[0].dtype)

    def step(state: Array, query: Array, key: Array, value: Array, *gates: Array) -> Value:
        if gated:
            state = state * gates[0][..., None]
        if delta:
            known = xp.matmul(key[..., None, :], state)[..., 0, :]
            value = gates[-1] * (value - known)
        state = state + key[..., :, None] * xp.astype(value[..., None, :], state.dtype)
        return state, xp.matmul(xp.astype(query, state.dtype), state)

    def nothing() -> Array:
        return xp.zeros((0, b, key_heads, heads // key_heads, shape[3]), dtype=begin.dtype)

    last, answers = xp.loop(begin, step, *rows, like=nothing)
    answers = xp.moveaxis(answers, 0, 1).reshape(b, s, heads * shape[3])
    kept = given[0].dtype if given else q.dtype
    return xp.astype(answers, q.dtype), xp.astype(last, kept)


def _heads(xp: Arrays, x: Array, heads: int) -> Array:
    """From `[b,s,heads*k]` to `[s,b,heads,k]`."""
    b, s, width = x.shape
    return xp.moveaxis(wide(xp, x).reshape(b, s, heads, width // max(heads, 1)), 1, 0)


TURNED = Padding(("b", "h", "s"), reason="it turns pairs of elements, which would not be the same")


@operator(Traits(padding=TURNED), roles={"k": "numbers of angles"})
def rotary_embedding(
    *, heads: int | None = None, interleaved: bool = False, size: int | None = None
) -> Rule:
    """Turn pairs of the elements of each vector by angles, which encode its position in the
    sequence: a tensor `[b,h,s,d]`, the cosines and the sines `[b,s,k]`. The first `2*k` elements
    are
    turned.

    - `heads`: how many heads are packed in the last dimension of a tensor `[b,s,heads*d]`.
    - `interleaved`: the elements of a pair are next to each other; else the second is k elements
      behind the first.
    - `size`: how many elements `2*k` must be, 0 for all of the vector; if it is not given, they
      may be any part of it.

    >>> rotary_embedding(x : f32 [b,4,s,8], cos : f32 [b,s,3], sin : f32 [b,s,3])
    f32 [b,4,s,8]
    >>> rotary_embedding(x : f32 [b,s,16], cos : f32 [b,s,4], sin : f32 [b,s,4], heads=2,
    ... interleaved=true)
    f32 [b,s,16]
    >>> rotary_embedding(x : f32 [b,h,s,8], cos : f32 [b,s,4], sin : f32 [b,s,4], size=0)
    f32 [b,h,s,8]
    """
    if heads is not None and heads < 1:
        return Problem("heads must be at least 1")
    if size is not None and (size < 0 or size % 2):
        return Problem(f"size is {size}; it must be even, and at least 0")
    k = str(size // 2) if size else "k"
    d, where = ("2*k", "") if size == 0 else ("d", f"d >= {size or '2*k'}, ")
    x = f"[b,h,s,{d}]" if heads is None else f"[b,s,{_times(heads, d)}]"
    return f"(t {x}, t [b,s,{k}], t [b,s,{k}]) -> t {x} where {where}t : float"


@rotary_embedding.means
def _(
    xp: Arrays,
    x: Array,
    cos: Array,
    sin: Array,
    heads: int | None,
    interleaved: bool,
    size: int | None,
) -> Array:
    y = wide(xp, x)
    if heads is None:
        y = xp.swapaxes(y, 1, 2)
    else:
        y = y.reshape(*x.shape[:2], heads, x.shape[2] // heads)
    k = cos.shape[2]
    if interleaved:
        first, second = y[..., 0 : 2 * k : 2], y[..., 1 : 2 * k : 2]
    else:
        first, second = y[..., :k], y[..., k : 2 * k]
    c, s = wide(xp, cos)[:, :, None], wide(xp, sin)[:, :, None]
    turned = [c * first - s * second, s * first + c * second]
    if interleaved:
        pairs = xp.stack(turned, axis=-1).reshape(*y.shape[:3], 2 * k)
        y = xp.concatenate([pairs, y[..., 2 * k :]], axis=-1)
    else:
        y = xp.concatenate([*turned, y[..., 2 * k :]], axis=-1)
    y = xp.swapaxes(y, 1, 2) if heads is None else y.reshape(x.shape)
    return xp.astype(y, x.dtype)


@operator(
    Traits(padding=Padding(("b", "c"), {"n": "zero"})), roles={"c": "channels", "b": "batch sizes"}
)
def causal_conv(arity: int, *, state: bool = False) -> Rule:
    """Convolve each channel of `[b,c,n]` with a filter of its own, `[c,1,k]`, that looks at nothing
    later; perhaps a bias `[c]` follows. The results are the convolution, and the last `k-1`
    places of the input, the state to go on with.

    - `state`: whether the last argument is the state to begin with, `[b,c,k-1]`; else it is zeros.

    >>> causal_conv(x : f32 [b,c,n], f : f32 [c,1,4])
    (f32 [b,c,n], f32 [b,c,3])
    >>> causal_conv(x : f32 [2,3,n], f : f32 [3,1,4], bias : f32 [3], s : f32 [2,3,3], state=true)
    (f32 [2,3,n], f32 [2,3,3])
    """
    if arity - state not in (2, 3):
        given = ", perhaps a bias and a state" if state else " and perhaps a bias"
        return Problem(f"causal_conv takes an input, filters{given}; {arity} arguments are given")
    kept = "t [b,c,k-1]"
    rest = [", t [c]"] * (arity - state - 2) + [f", {kept}"] * state
    return f"(t [b,c,n], t [c,1,k]{''.join(rest)}) -> (t [b,c,n], {kept}) where t : float, k >= 1"


@causal_conv.means
def _(xp: Arrays, x: Array, f: Array, *rest: Array, state: bool) -> tuple[Array, Array]:
    y, whole = _causal_conv(xp, x, f, rest, state)
    return y, whole[:, :, x.shape[2] :]


@causal_conv.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, f: Array, *rest: Array, state: bool
) -> tuple[Array, Array]:
    y, whole = _causal_conv(xp, x, f, rest, state)
    return y, taken(xp, whole, 2, true.of(0)[2] + xp.arange(f.shape[2] - 1))


def _causal_conv(
    xp: Arrays, x: Array, f: Array, rest: tuple[Array, ...], state: bool
) -> tuple[Array, Array]:
    """The result, and the input with what was before it."""
    (b, c, n), k = x.shape, f.shape[2]
    past = rest[-1] if state else xp.zeros((b, c, k - 1), dtype=x.dtype)
    whole, weights = xp.concatenate([past, x], axis=2), wide(xp, f)
    y = xp.zeros((b, c, n), dtype=weights.dtype)
    for at in range(k):
        y = y + weights[:, :, at] * wide(xp, whole[:, :, at : at + n])
    for bias in rest[: len(rest) - state]:
        y = y + wide(xp, bias)[:, None]
    return xp.astype(y, x.dtype), whole
