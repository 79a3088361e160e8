"""The functions between the layers of a network, element by element."""

from __future__ import annotations

import math

from axon.ops.arrays import Array, Arrays, is_integer, wide
from axon.ops.integers import below, plus
from axon.ops.operator import Problem, Rule, operator
from axon.ops.traits import ACTIVATION, POINTWISE

REAL = "t s -> t s where t : float"


def _elu(xp: Arrays, x: Array, alpha: float) -> Array:
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0)))


def _sigmoid(xp: Arrays, x: Array) -> Array:
    """By an exponential that is never above 1."""
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1, small) / (1 + small)


def _softplus(xp: Arrays, x: Array) -> Array:
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


def _hard_sigmoid(xp: Arrays, x: Array, alpha: float, beta: float) -> Array:
    return xp.minimum(xp.maximum(alpha * x + beta, 0), 1)


@operator(POINTWISE)
def relu() -> Rule:
    """The larger of x and 0.

    >>> relu(x : f32 [n,3])
    f32 [n,3]
    """
    return "t s -> t s where t : num"


@relu.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.maximum(x, xp.zeros_like(x))


@operator(ACTIVATION)
def leaky_relu(*, slope: float = 0.01) -> Rule:
    """x where it is positive, else a little of it.

    - `slope`: what x is multiplied by where it is negative.

    >>> leaky_relu(x : f32 [n], slope=0.2)
    f32 [n]
    """
    return REAL


@leaky_relu.means
def _(xp: Arrays, x: Array, slope: float) -> Array:
    y = wide(xp, x)
    return xp.astype(xp.where(y > 0, y, slope * y), x.dtype)


@operator(ACTIVATION)
def elu(*, alpha: float = 1.0) -> Rule:
    """x where it is positive, else `alpha * (exp(x) - 1)`.

    - `alpha`: the distance below zero that it never reaches.

    >>> elu(x : f32 [n])
    f32 [n]
    """
    return REAL


@elu.means
def _(xp: Arrays, x: Array, alpha: float) -> Array:
    return xp.astype(_elu(xp, wide(xp, x), alpha), x.dtype)


@operator(ACTIVATION)
def selu(*, alpha: float = 1.6732632423543772, scale: float = 1.0507009873554805) -> Rule:
    """An `elu`, scaled so that layer after layer keeps mean 0 and variance 1.

    - `alpha`, `scale`: other numbers than those that do so.

    >>> selu(x : f32 [n])
    f32 [n]
    """
    return REAL


@selu.means
def _(xp: Arrays, x: Array, alpha: float, scale: float) -> Array:
    return xp.astype(scale * _elu(xp, wide(xp, x), alpha), x.dtype)


@operator(ACTIVATION)
def celu(*, alpha: float = 1.0) -> Rule:
    """x where it is positive, else `alpha * (exp(x / alpha) - 1)`: an `elu` without a corner.

    - `alpha`: the distance below zero that it never reaches.

    >>> celu(x : f32 [n], alpha=2)
    f32 [n]
    """
    return Problem("alpha must not be 0") if alpha == 0 else REAL


@celu.means
def _(xp: Arrays, x: Array, alpha: float) -> Array:
    y = wide(xp, x)
    below = xp.minimum(alpha * xp.expm1(y / alpha), 0)
    return xp.astype(xp.maximum(y, 0) + below, x.dtype)


@operator(ACTIVATION)
def thresholded_relu(*, threshold: float = 1.0) -> Rule:
    """x where it is above a threshold, else 0.

    - `threshold`: what x must be above.

    >>> thresholded_relu(x : f32 [n])
    f32 [n]
    """
    return REAL


@thresholded_relu.means
def _(xp: Arrays, x: Array, threshold: float) -> Array:
    return xp.where(wide(xp, x) > threshold, x, xp.zeros_like(x))


@operator(ACTIVATION)
def shrink(*, threshold: float = 0.5, bias: float = 0.0) -> Rule:
    """0 where x is not farther from it than a threshold; else x, brought nearer to 0. Integers are
    cut off behind the point, and brought in where they do not fit.

    - `threshold`: how far from 0 it must be.
    - `bias`: how much nearer it is brought.

    >>> shrink(x : f32 [n], threshold=1, bias=1)
    f32 [n]
    """
    return "t s -> t s where t : num"


@shrink.means
def _(xp: Arrays, x: Array, threshold: float, bias: float) -> Array:
    if is_integer(xp, x):
        up, down = plus(xp, x, bias), plus(xp, x, -bias)
        nearer = xp.where(below(xp, x, -threshold), up, down)
        far = below(xp, x, -threshold) | below(xp, x, threshold, above=True)
        return xp.where(far, nearer, xp.zeros_like(x))
    y = wide(xp, x)
    nearer = xp.where(y < -threshold, y + bias, y - bias)
    return xp.astype(xp.where(xp.abs(y) > threshold, nearer, 0), x.dtype)


@operator(ACTIVATION)
def gelu(*, approximate: str = "none") -> Rule:
    """x times the probability that a normal variable is below x.

    - `approximate`: "none", or "tanh" for the cheaper formula.

    >>> gelu(x : f32 [b,n])
    f32 [b,n]
    """
    if approximate not in ("none", "tanh"):
        return Problem(f'approximate is "{approximate}"; it can be "none" or "tanh"')
    return REAL


@gelu.means
def _(xp: Arrays, x: Array, approximate: str) -> Array:
    y = wide(xp, x)
    if approximate == "tanh":
        below = xp.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y * y * y))
    else:
        below = xp.erf(y / math.sqrt(2))
    return xp.astype(0.5 * y * (1 + below), x.dtype)


@operator(ACTIVATION)
def silu(*, alpha: float = 1.0) -> Rule:
    """`x * sigmoid(alpha * x)`, also called swish.

    - `alpha`: how steep the sigmoid is.

    >>> silu(x : f32 [n])
    f32 [n]
    """
    return REAL


@silu.means
def _(xp: Arrays, x: Array, alpha: float) -> Array:
    y = wide(xp, x)
    return xp.astype(y * _sigmoid(xp, alpha * y), x.dtype)


@operator(ACTIVATION)
def mish() -> Rule:
    """`x * tanh(softplus(x))`.

    >>> mish(x : f32 [n])
    f32 [n]
    """
    return REAL


@mish.means
def _(xp: Arrays, x: Array) -> Array:
    y = wide(xp, x)
    return xp.astype(y * xp.tanh(_softplus(xp, y)), x.dtype)


@operator(ACTIVATION)
def softsign() -> Rule:
    """`x / (1 + |x|)`.

    >>> softsign(x : f32 [n])
    f32 [n]
    """
    return REAL


@softsign.means
def _(xp: Arrays, x: Array) -> Array:
    y = wide(xp, x)
    return xp.astype(y / (1 + xp.abs(y)), x.dtype)


@operator(ACTIVATION)
def softplus() -> Rule:
    """`log(1 + exp(x))`, a smooth `relu`.

    >>> softplus(x : f32 [n])
    f32 [n]
    """
    return REAL


@softplus.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.astype(_softplus(xp, wide(xp, x)), x.dtype)


@operator(ACTIVATION)
def sigmoid() -> Rule:
    """`1 / (1 + exp(-x))`.

    >>> sigmoid(x : f32 [b,n])
    f32 [b,n]
    """
    return REAL


@sigmoid.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.astype(_sigmoid(xp, wide(xp, x)), x.dtype)


@operator(ACTIVATION)
def tanh() -> Rule:
    """The hyperbolic tangent.

    >>> tanh(x : f32 [b,n])
    f32 [b,n]
    """
    return REAL


@tanh.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.tanh(x)


@operator(ACTIVATION)
def hard_sigmoid(*, alpha: float = 0.16666666666666666, beta: float = 0.5) -> Rule:
    """A sigmoid of three straight lines: `alpha * x + beta`, clipped to 0 and 1.

    - `alpha`, `beta`: slope and height of the middle line.

    >>> hard_sigmoid(x : f32 [n])
    f32 [n]
    """
    return REAL


@hard_sigmoid.means
def _(xp: Arrays, x: Array, alpha: float, beta: float) -> Array:
    return xp.astype(_hard_sigmoid(xp, wide(xp, x), alpha, beta), x.dtype)


@operator(ACTIVATION)
def hard_swish() -> Rule:
    """`x * hard_sigmoid(x)`.

    >>> hard_swish(x : f32 [n])
    f32 [n]
    """
    return REAL


@hard_swish.means
def _(xp: Arrays, x: Array) -> Array:
    y = wide(xp, x)
    return xp.astype(y * _hard_sigmoid(xp, y, 1 / 6, 0.5), x.dtype)
