"""How far a prediction is from the truth."""

from __future__ import annotations

from axon.ops.arrays import Array, Arrays, wide
from axon.ops.operator import Problem, Rule, operator
from axon.ops.padding import TrueSizes
from axon.ops.traits import Attributes, Padding, Traits


def _loss_padding(attributes: Attributes) -> Padding:
    if attributes["reduction"] == "none":
        return Padding(("n", "s"), {"c": "anything"})
    return Padding(fills={"n": "anything", "after*": "anything"})


@operator(Traits(padding=_loss_padding), roles={"n": "batch sizes"})
def negative_log_likelihood(
    arity: int, *, reduction: str = "mean", ignore: int | None = None
) -> Rule:
    """How unlikely the true classes are: the logarithms of probabilities `[n,c,…]`, the numbers of
    the classes `[n,…]`, and perhaps a weight for each class.

    - `reduction`: "mean" (by the weights), "sum", or "none".
    - `ignore`: a label that is no class, and is ignored.

    >>> negative_log_likelihood(p : f32 [n,10], classes : i64 [n])
    f32
    >>> negative_log_likelihood(p : f32 [n,5,h], classes : i64 [n,h], weights : f32 [5],
    ... reduction="none", ignore=-1)
    f32 [n,h]
    """
    if not 2 <= arity <= 3:
        return Problem(
            "negative_log_likelihood takes logarithms, classes and perhaps weights; "
            f"{arity} arguments are given"
        )
    if reduction not in ("mean", "sum", "none"):
        return Problem(f'reduction is "{reduction}"; it can be "mean", "sum" or "none"')
    c, rest = ("c", "s") if reduction == "none" else ("after_c", "after")
    weights = f", t [{c}]" if arity == 3 else ""
    result = "t [n]@s" if reduction == "none" else "t []"
    return f"(t [n,{c}]@{rest}, i [n]@{rest}{weights}) -> {result} where t : float, i : int"


@negative_log_likelihood.means
def _(
    xp: Arrays,
    x: Array,
    classes: Array,
    *weights: Array,
    reduction: str,
    ignore: int | None,
) -> Array:
    return _loss(xp, x, xp.astype(classes, xp.element("i64")), weights, None, reduction, ignore)


@negative_log_likelihood.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    classes: Array,
    *weights: Array,
    reduction: str,
    ignore: int | None,
) -> Array:
    """Negative numbers count from the true end, and those outside are outside of the array."""
    numbers, size = xp.astype(classes, xp.element("i64")), true.of(0)[1]
    if not isinstance(size, int):
        placed = xp.where(numbers < 0, numbers + size, numbers)
        placed = xp.where((placed < 0) | (placed >= size), x.shape[1], placed)
        numbers = placed if ignore is None else xp.where(numbers == ignore, numbers, placed)
    there = None if reduction == "none" else true.mask(xp, 1, range(classes.ndim))
    return _loss(xp, x, numbers, weights, there, reduction, ignore)


def _loss(
    xp: Arrays,
    x: Array,
    numbers: Array,
    weights: tuple[Array, ...],
    there: Array | None,
    reduction: str,
    ignore: int | None,
) -> Array:
    """`there` says which places there are, where some are padding."""
    y, counts = wide(xp, x), there
    if ignore is not None:
        seen = numbers != ignore
        counts = seen if there is None else seen & there
    if counts is not None:
        numbers = xp.where(counts, numbers, 0)
    losses = -xp.take_along_axis(y, xp.expand_dims(numbers, 1), axis=1)[:, 0]
    each = xp.ones(numbers.shape, dtype=y.dtype)
    if weights:
        each = xp.take(wide(xp, weights[0]), numbers)
    if counts is not None:
        each = xp.where(counts, each, 0)
        losses = xp.where(counts, losses, 0)
    total = each * losses
    if reduction == "sum":
        total = xp.sum(total)
    elif reduction == "mean":
        total = xp.sum(total) / xp.sum(each)
    return xp.astype(xp.asarray(total), x.dtype)
