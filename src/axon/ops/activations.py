"""The functions between the layers of a network, element by element."""

from __future__ import annotations

from axon.ops.operator import Problem, Rule, operator

REAL = "t s -> t s where t : float"


@operator()
def relu() -> Rule:
    """The larger of x and 0.

    >>> relu(x : f32 [n,3])
    f32 [n,3]
    """
    return "t s -> t s where t : num"


@operator()
def leaky_relu(*, slope: float = 0.01) -> Rule:
    """x where it is positive, else a little of it.

    - `slope`: what x is multiplied by where it is negative.

    >>> leaky_relu(x : f32 [n], slope=0.2)
    f32 [n]
    """
    return REAL


@operator()
def elu(*, alpha: float = 1.0) -> Rule:
    """x where it is positive, else `alpha * (exp(x) - 1)`.

    - `alpha`: the distance below zero that it never reaches.

    >>> elu(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def selu() -> Rule:
    """An `elu`, scaled so that layer after layer keeps mean 0 and variance 1.

    >>> selu(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def gelu(*, approximate: str = "none") -> Rule:
    """x times the probability that a normal variable is below x.

    - `approximate`: "none", or "tanh" for the cheaper formula.

    >>> gelu(x : f32 [b,n])
    f32 [b,n]
    """
    if approximate not in ("none", "tanh"):
        return Problem(f'approximate is "{approximate}"; it can be "none" or "tanh"')
    return REAL


@operator()
def silu() -> Rule:
    """`x * sigmoid(x)`, also called swish.

    >>> silu(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def softplus() -> Rule:
    """`log(1 + exp(x))`, a smooth `relu`.

    >>> softplus(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def sigmoid() -> Rule:
    """`1 / (1 + exp(-x))`.

    >>> sigmoid(x : f32 [b,n])
    f32 [b,n]
    """
    return REAL


@operator()
def tanh() -> Rule:
    """The hyperbolic tangent.

    >>> tanh(x : f32 [b,n])
    f32 [b,n]
    """
    return REAL


@operator()
def hard_sigmoid(*, alpha: float = 0.16666666666666666, beta: float = 0.5) -> Rule:
    """A sigmoid of three straight lines: `alpha * x + beta`, clipped to 0 and 1.

    - `alpha`, `beta`: slope and height of the middle line.

    >>> hard_sigmoid(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def hard_swish() -> Rule:
    """`x * hard_sigmoid(x)`.

    >>> hard_swish(x : f32 [n])
    f32 [n]
    """
    return REAL
