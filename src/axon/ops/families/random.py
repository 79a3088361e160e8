"""Random numbers, drawn with an explicit key.

A key is an ordinary tensor, `u32 [2]`; nothing is hidden, so the same key always yields the same
numbers. A key is used once: to draw several times, split it first. The bits, the uniforms,
the integers and the permutations are the same on every backend; what is computed from them by
logarithms and cosines differs in its last places.
"""

from __future__ import annotations

from math import pi, prod

from axon.ops.arrays import Array, Arrays, Value, wide
from axon.ops.axes import at, bad_axes, place
from axon.ops.memory import Refused, check_fits, shown
from axon.ops.operator import Element, Extent, Ints, Problem, Rule, operator
from axon.ops.padding import TrueSizes, numbered
from axon.ops.threefry import below, open_uniforms, uniforms, words
from axon.ops.traits import Padding, RowRule, Traits
from axon.types.elements import BIT, FLOAT, INT

MOST_PARTS = 1024
"""The most keys in a tuple."""

MOST_NUMBERS = (1 << 32) - 1
"""From how many numbers one is drawn at most."""

DRAWN = Traits(rows=RowRule.DRAWN)

KEY = "one is made of a seed, `random_key(7)`, or of another key by `split_key`"
FIRST = {1: f"the first argument is a key; {KEY}"}


# --- keys ------------------------------------------------------------------------------------


@operator()
def random_key() -> Rule:
    """The key of a seed: the upper and the lower half of its 64 bits.

    >>> random_key(7)
    u32 [2]
    >>> random_key(seed : i64)
    u32 [2]
    """
    return "i [] -> u32 [2] where i : int"


@random_key.means
def _(xp: Arrays, seed: Array) -> Array:
    word, seed = xp.word, xp.asarray(seed)
    if seed.dtype.itemsize == 8:
        high = xp.astype(seed >> 32, word)
    else:  # the same key as for the same number in 64 bits
        high = xp.where(seed < 0, xp.asarray((1 << 32) - 1, dtype=word), xp.asarray(0, dtype=word))
    return xp.low32(xp.stack([high, xp.astype(seed, word)]))


@operator(DRAWN._replace(padding=Padding(made=("n",))), hints=FIRST)
def split_key(arity: int, *, parts: int | None = None) -> Rule:
    """Several keys from one, each as good as a new one: a tuple of two, or of `parts`; or the
    number given by the second argument, one in each row. The first ones are the same however many
    there
    are.

    - `parts`: how many, in a tuple; 2 if not given.

    >>> split_key(k : u32 [2])
    (u32 [2], u32 [2])
    >>> split_key(k : u32 [2], parts=3)
    (u32 [2], u32 [2], u32 [2])
    >>> split_key(k : u32 [2], 12)
    u32 [12,2]
    """
    if arity == 2 and parts is None:
        return "(u32 [2], dim n) -> u32 [n,2]"
    if arity != 1:
        return Problem("give a key, and either how many rows of keys there should be or parts=…")
    count = 2 if parts is None else parts
    if not 2 <= count <= MOST_PARTS:
        return Problem(f"a key is split into 2 to {MOST_PARTS} parts, not {count}")
    return f"u32 [2] -> ({', '.join(['u32 [2]'] * count)})"


@split_key.means
def _(xp: Arrays, key: Array, *rows: int, parts: int | None) -> Value:
    count = rows[0] if rows else parts or 2
    check_fits((count, 2), 4)
    keys = xp.stack(words(xp, key, count), axis=-1)
    return keys if rows else tuple(keys[i] for i in range(count))


# --- numbers ---------------------------------------------------------------------------------


@operator(DRAWN._replace(padding=Padding(made=("*",))), hints=FIRST)
def uniform(*, to: Element = "f32") -> Rule:
    """Numbers from 0 up to and without 1, all equally likely, in a shape.

    - `to`: the element type, a float type.

    >>> uniform(k : u32 [2], [2,3])
    f32 [2,3]
    """
    return _floats(to)


@uniform.means
def _(xp: Arrays, key: Array, shape: Ints, to: Element) -> Array:
    return uniforms(xp, key, shape, to)


@uniform.padded
def _(xp: Arrays, true: TrueSizes, key: Array, shape: Ints, to: Element) -> Array:
    return _drawn(xp, true, uniforms(xp, key, (prod(shape),), to), -1, shape)


def _drawn(xp: Arrays, true: TrueSizes, flat: Array, place: int, shape: Ints) -> Array:
    """Each element by its number among the true ones."""
    sizes = true.of(place) if place >= 0 else [true.result(i, n) for i, n in enumerate(shape)]
    return xp.take(flat, numbered(xp, shape, sizes), axis=0)


@operator(DRAWN._replace(padding=Padding(made=("*",))), hints=FIRST)
def normal(*, to: Element = "f32") -> Rule:
    """Numbers with the standard normal distribution: mean 0, variance 1.

    - `to`: the element type, a float type.

    >>> normal(k : u32 [2], [2,3])
    f32 [2,3]
    """
    return _floats(to)


@normal.means
def _(xp: Arrays, key: Array, shape: Ints, to: Element) -> Array:
    """G. Box and M. Muller, "A note on the generation of random normal deviates", 1958."""
    u = open_uniforms(xp, key, (2, *shape), _wide(to))
    made = xp.sqrt(-2 * xp.log(u[0])) * xp.cos(2 * pi * u[1])
    return xp.astype(made, xp.element(to))


@normal.padded
def _(xp: Arrays, true: TrueSizes, key: Array, shape: Ints, to: Element) -> Array:
    flat = open_uniforms(xp, key, (2 * prod(shape),), _wide(to))
    sizes = [true.result(axis, size) for axis, size in enumerate(shape)]
    number, count = numbered(xp, shape, sizes), 1
    for size in sizes:
        count = count * size
    second = xp.take(flat, number + count, axis=0)
    made = xp.sqrt(-2 * xp.log(xp.take(flat, number, axis=0))) * xp.cos(2 * pi * second)
    return xp.astype(made, xp.element(to))


def _floats(to: Element) -> Rule:
    """Floats in a shape."""
    if not BIT.get(to, 0) & FLOAT:
        return Problem(f"it makes f16, bf16, f32 or f64, not {to}")
    return f"(u32 [2], shape s) -> {to} s"


def _wide(element: Element) -> Element:
    """The element type in which numbers are drawn that are rounded afterwards."""
    return "f64" if element == "f64" else "f32"


@operator(DRAWN._replace(padding=Padding(made=("*",))), hints=FIRST)
def randint(*, high: Extent, low: Extent = 0, to: Element = "i64") -> Rule:
    """Integers from `low` up to and without `high`, all equally likely, in a shape.

    - `high`: the first integer that is not drawn; it is above `low`.
    - `low`: the least one, 0 if not given.
    - `to`: the element type, an integer type.

    >>> randint(k : u32 [2], shape(x : f32 [b,n]), high=10)
    i64 [b,n]
    >>> randint(k : u32 [2], [2,3], low=-3, high=4, to=i32)
    i32 [2,3]
    """
    if not BIT.get(to, 0) & INT:
        return Problem(f"it makes integers, not {to}")
    made = f"(u32 [2], shape s) -> {to} s"
    if not isinstance(low, int) or not isinstance(high, int):
        return f"{made} where {_term(high)}-{_term(low)} >= 1"
    if high <= low:
        return Problem(f"high must be above low: no integer is from {low} up to and without {high}")
    if reason := _too_many(low, high, *_range(to)):
        return Problem(reason)
    return made


def _term(size: Extent) -> str:
    """An integer or a dimension, as a term of a dimension."""
    return f"(0-{-size})" if isinstance(size, int) and size < 0 else str(size)


def _range(to: Element) -> Ints:
    """The least and the largest integer of an element type."""
    bits = int(to[1:])
    return (0, (1 << bits) - 1) if to[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def _too_many(low: int, high: int, least: int, most: int) -> str:
    """Why not all of these integers can be drawn, or nothing."""
    if high - low > MOST_NUMBERS:
        return f"it draws one of at most {MOST_NUMBERS} integers, not of {shown(high - low)}"
    if low < least or high - 1 > most:
        return f"not all integers from {shown(low)} up to {shown(high)} fit into the element type"
    return ""


@randint.means
def _(xp: Arrays, key: Array, shape: Ints, high: int, low: int, to: Element) -> Array:
    dtype = xp.element(to)
    if reason := _too_many(low, high, *_range(to)):
        raise Refused(reason)
    drawn = xp.astype(below(xp, key, shape, high - low), dtype)
    return drawn + xp.asarray(low, dtype=dtype)  # wraps around, and back


@randint.padded
def _(
    xp: Arrays, true: TrueSizes, key: Array, shape: Ints, high: int, low: int, to: Element
) -> Array:
    assert randint.meaning is not None
    flat = randint.meaning(xp, key, (prod(shape),), high=high, low=low, to=to)
    return _drawn(xp, true, flat, -1, shape)


@operator(DRAWN._replace(padding=Padding(fills={"s": "anything"})), hints=FIRST)
def bernoulli() -> Rule:
    """For each probability, true with that probability.

    >>> bernoulli(k : u32 [2], p : f32 [b,n])
    bool [b,n]
    >>> bernoulli(k : u32 [2], full([2,3], 0.5))
    bool [2,3]
    """
    return "(u32 [2], t s) -> bool s where t : float"


@bernoulli.means
def _(xp: Arrays, key: Array, probability: Array) -> Array:
    at_most = wide(xp, xp.asarray(probability))
    element = "f64" if at_most.dtype.itemsize == 8 else "f32"
    return uniforms(xp, key, at_most.shape, element) < at_most


@bernoulli.padded
def _(xp: Arrays, true: TrueSizes, key: Array, probability: Array) -> Array:
    at_most = wide(xp, xp.asarray(probability))
    element = "f64" if at_most.dtype.itemsize == 8 else "f32"
    flat = uniforms(xp, key, (prod(at_most.shape),), element)
    return _drawn(xp, true, flat, 1, at_most.shape) < at_most


@operator(
    DRAWN._replace(
        padding=Padding(
            fills={"s": "anything", "after*": "anything", "d*": "anything", "n": "lowest"}
        )
    ),
    hints=FIRST,
)
def categorical(*, axis: int = -1) -> Rule:
    """One index along an axis, drawn with the probabilities of which the axis has the logarithms,
    up to a constant: those of `softmax`.

    - `axis`: which one; the innermost if not given.

    >>> categorical(k : u32 [2], logits : f32 [b,10])
    i64 [b]
    """
    if problem := bad_axes((axis,)):
        return problem
    shape = at(axis, "n", tail="after")
    result = place((axis,), [""], tail="after")
    return f"(u32 [2], t {shape}) -> i64 {result} where n >= 1, t : float"


@categorical.means
def _(xp: Arrays, key: Array, logits: Array, axis: int) -> Array:
    """The largest after a number with Gumbel's distribution is added to each."""
    known = wide(xp, xp.asarray(logits))
    element = "f64" if known.dtype.itemsize == 8 else "f32"
    added = -xp.log(-xp.log(open_uniforms(xp, key, known.shape, element)))
    return xp.astype(xp.argmax(known + added, axis=axis), xp.element("i64"))


@categorical.padded
def _(xp: Arrays, true: TrueSizes, key: Array, logits: Array, axis: int) -> Array:
    known = wide(xp, xp.asarray(logits))
    element = "f64" if known.dtype.itemsize == 8 else "f32"
    flat = open_uniforms(xp, key, (prod(known.shape),), element)
    added = -xp.log(-xp.log(_drawn(xp, true, flat, 1, known.shape)))
    return xp.astype(xp.argmax(known + added, axis=axis), xp.element("i64"))


@operator(DRAWN._replace(padding=Padding(made=("n",))), hints=FIRST)
def permutation() -> Rule:
    """The integers from 0 up to and without a number, in random order; `gather` puts rows into it.

    >>> permutation(k : u32 [2], 5)
    i64 [5]
    >>> gather(x : f32 [n,3], permutation(k : u32 [2], size(x, axis=0)))
    f32 [n,3]
    """
    return "(u32 [2], dim n) -> i64 [n]"


@permutation.means
def _(xp: Arrays, key: Array, n: int) -> Array:
    check_fits((n,), 8)
    high, low = words(xp, key, n)
    return xp.astype(xp.lexsort((low, high)), xp.element("i64"))


@permutation.padded
def _(xp: Arrays, true: TrueSizes, key: Array, n: int) -> Array:
    """The word of a number does not depend on how many there are; the true ones come first."""
    check_fits((n,), 8)
    high, low = words(xp, key, n)
    beyond = xp.arange(n, dtype=xp.element("i64")) >= true.result(0, n)
    return xp.astype(xp.lexsort((low, high, beyond)), xp.element("i64"))


# --- training --------------------------------------------------------------------------------


@operator(
    DRAWN._replace(padding=Padding(fills={"s": "anything"})),
    named=("key",),
    hints={2: f"the second argument is a key; {KEY}"},
)
def dropout(arity: int, *, rate: float = 0.5) -> Rule:
    """With a key, what training does: each element is left out, which makes it 0, with a
    probability, and the others are divided by the probability of staying. Without a key, what a
    trained network does: everything passes through. Which elements are left out depends on the key
    and on the shape.

    - `key`: the key, as a second argument or by its name.
    - `rate`: the probability of being left out, from 0 up to and without 1.

    >>> dropout(x : f32 [b,n], key=(k : u32 [2]), rate=0.1)
    f32 [b,n]
    >>> dropout(x : f32 [b,n], rate=0.1)
    f32 [b,n]
    """
    if arity not in (1, 2):
        return Problem(f"it takes a tensor and perhaps a key; {arity} arguments are given")
    if not 0 <= rate <= 1:
        return Problem(f"rate is a share, from 0 to 1, not {rate:g}")
    if arity == 1:
        return "t s -> t s"
    if rate == 1:
        return Problem("rate must be less than 1: with a key, something must be left")
    return "(t s, u32 [2]) -> t s where t : float"


@dropout.means
def _(xp: Arrays, x: Array, *key: Array, rate: float) -> Array:
    if not key:
        return x
    kept = uniforms(xp, key[0], x.shape, "f32") >= rate
    scaled = xp.astype(wide(xp, x) / (1 - rate), x.dtype)
    return xp.where(kept, scaled, xp.zeros_like(x))


@dropout.padded
def _(xp: Arrays, true: TrueSizes, x: Array, *key: Array, rate: float) -> Array:
    if not key:
        return x
    flat = uniforms(xp, key[0], (prod(x.shape),), "f32")
    scaled = xp.astype(wide(xp, x) / (1 - rate), x.dtype)
    return xp.where(_drawn(xp, true, flat, 0, x.shape) >= rate, scaled, xp.zeros_like(x))
