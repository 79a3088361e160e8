"""Products of vectors and matrices, and what one does with a matrix."""

from __future__ import annotations

import re

from axon.ops.arrays import Array, Arrays, wide
from axon.ops.axes import LIMIT, append, dims
from axon.ops.operator import Ints, Problem, Rule, operator
from axon.ops.padding import TrueSizes
from axon.ops.traits import Padding, RowRule, Traits

INNER = {"k": "inner sizes"}


@operator(
    Traits(often_transposed=True, padding=Padding(("m", "n"), reduced="zero")),
    roles=INNER | {"s": "batch shapes"},
)
def matmul() -> Rule:
    """Multiply matrices; the leading dimensions are a batch and must agree (`@` lets them
    broadcast).

    >>> matmul(x : f32 [2,3], y : f32 [3,4])
    f32 [2,4]
    >>> matmul(x : f32 [b,h,m,k], y : f32 [b,h,k,n])
    f32 [b,h,m,n]
    """
    return "(t s@[m,k], t s@[k,n]) -> t s@[m,n] where t : num"


@matmul.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.matmul(x, y)


@operator(
    Traits(core=2, often_transposed=True, padding=Padding(("m", "n"), reduced="zero")),
    name="@",
    roles=INNER,
)
def multiply_matrices() -> Rule:
    """Multiply matrices; the leading dimensions are a batch, and broadcast.

    >>> (x : f32 [2,3]) @ (w : f32 [3,4])
    f32 [2,4]
    >>> (x : f32 [b,h,m,k]) @ (w : f32 [k,n])
    f32 [b,h,m,n]
    """
    return "(t p@[m,k], t q@[k,n]) -> t broadcast(p,q)@[m,n] where t : num"


@multiply_matrices.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.matmul(x, y)


@operator(Traits(padding=Padding(("n",), reduced="zero")), roles=INNER)
def project() -> Rule:
    """Multiply the last dimension by a matrix, of a vector or of any batch.

    >>> project(x : f32 [k], w : f32 [k,n])
    f32 [n]
    >>> project(x : f32 [b,s,k], w : f32 [k,n])
    f32 [b,s,n]
    """
    return "(t s@[k], t [k,n]) -> t s@[n] where t : num"


@project.means
def _(xp: Arrays, x: Array, w: Array) -> Array:
    return xp.matmul(x, w)


@operator(Traits(padding=Padding(("*",))))
def transpose(*, perm: Ints | None = None) -> Rule:
    """Swap the last two dimensions, or put all of them in another order.

    - `perm`: for each dimension of the result, the one of the input that it is: `[0,2,1]`. Its
      length is the rank.

    >>> transpose(x : f32 [b,m,n])
    f32 [b,n,m]
    >>> transpose(x : f32 [b,s,h,d], perm=[0,2,1,3])
    f32 [b,h,s,d]
    """
    if perm is None:
        return "t s@[m,n] -> t s@[n,m]"
    rank = len(perm)
    if rank > LIMIT:
        return Problem(f"perm has {rank} entries; there can be at most {LIMIT}")
    order = [axis + rank if axis < 0 else axis for axis in perm]
    if sorted(order) != list(range(rank)):
        listed = ", ".join(str(axis) for axis in range(rank))
        return Problem(f"perm is not a permutation: it must hold each of {listed} once")
    # what varies over the first dimension would stand before it, or over another one
    behind = "d" if order[:1] in ([], [0]) else "after_"
    names = [f"{behind if i else 'd'}{i}" for i in range(rank)]
    return f"t {dims(names)} -> t {dims([names[i] for i in order])}"


@transpose.means
def _(xp: Arrays, x: Array, perm: Ints | None) -> Array:
    return xp.swapaxes(x, -1, -2) if perm is None else xp.transpose(x, perm)


@operator(Traits(padding=Padding(reduced="zero")), roles={"n": "lengths"})
def dot() -> Rule:
    """The sum of the products of two vectors' elements.

    >>> dot(x : f32 [n], y : f32 [n])
    f32
    """
    return "(t [n], t [n]) -> t [] where t : num"


@dot.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.matmul(x, y)


@operator(Traits(padding=Padding(("m", "n"))))
def outer() -> Rule:
    """Every product of an element of one vector and one of another.

    >>> outer(x : f32 [3], y : f32 [4])
    f32 [3,4]
    """
    return "(t [m], t [n]) -> t [m,n] where t : num"


@outer.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.multiply(x[:, None], y)


@operator(Traits(padding=Padding(reduced="zero")))
def trace() -> Rule:
    """The sum of the diagonal of a square matrix; leading dimensions are a batch.

    >>> trace(x : f32 [b,n,n])
    f32 [b]
    """
    return "t s@[n,n] -> t s where t : num"


@trace.means
def _(xp: Arrays, x: Array) -> Array:
    y = wide(xp, x)
    return xp.astype(xp.trace(y, axis1=-2, axis2=-1, dtype=y.dtype), x.dtype)


@operator(Traits(padding=Padding(fills={"n": "zero"})))
def det() -> Rule:
    """The determinant of a square matrix; leading dimensions are a batch.

    >>> det(x : f32 [b,n,n])
    f32 [b]
    """
    return "t s@[n,n] -> t s where t : float"


@det.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.astype(xp.asarray(xp.linalg.det(wide(xp, x))), x.dtype)


@det.padded
def _(xp: Arrays, true: TrueSizes, x: Array) -> Array:
    """Ones on the diagonal behind the true elements change nothing."""
    place = xp.arange(x.shape[-1], dtype=xp.element("i64"))
    behind = (place[:, None] == place) & (place >= true.of(0)[-1])
    assert det.meaning is not None
    return det.meaning(xp, xp.where(behind, xp.ones((), dtype=x.dtype), x))


@operator(Traits(rows=RowRule.TRIANGLE, padding=Padding(("m", "n"))))
def tril(*, k: int = 0) -> Rule:
    """Keep the lower triangle of a matrix and put zeros above it; leading dimensions are a batch.

    - `k`: the diagonal to keep up to; 0 is the main one, 1 the one above it.

    >>> tril(x : f32 [n,n])
    f32 [n,n]
    """
    return "t s@[m,n] -> t s@[m,n]"


@tril.means
def _(xp: Arrays, x: Array, k: int) -> Array:
    return xp.tril(x, _diagonal(x, k))


@operator(Traits(rows=RowRule.TRIANGLE, padding=Padding(("m", "n"))))
def triu(*, k: int = 0) -> Rule:
    """Keep the upper triangle of a matrix and put zeros below it; leading dimensions are a batch.

    - `k`: the diagonal to keep from; 0 is the main one, 1 the one above it.

    >>> triu(x : bool [m,n], k=1)
    bool [m,n]
    """
    return "t s@[m,n] -> t s@[m,n]"


@triu.means
def _(xp: Arrays, x: Array, k: int) -> Array:
    return xp.triu(x, _diagonal(x, k))


def _diagonal(x: Array, k: int) -> int:
    """A diagonal of a matrix; those beyond its corners are all alike."""
    rows, columns = (int(size) for size in x.shape[-2:])
    return min(max(k, -rows - 1), columns + 1)


@operator(Traits(padding=Padding(("*",), reduced="zero")))
def einsum(arity: int, *, equation: str) -> Rule:
    """Multiply tensors and sum over the dimensions that the result does not name.

    - `equation`: a letter for each dimension of each argument and of the result. The same letter is
      the same size. `...` is for leading dimensions, which broadcast.

    >>> einsum(x : f32 [b,m,k], y : f32 [b,k,n], equation="bik,bkj->bij")
    f32 [b,m,n]
    >>> einsum(x : f32 [4,5,5], equation="...ii->...")
    f32 [4]
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    parts = inputs.split(",")
    if not arrow:
        return Problem('the equation has no `->`; write one like "ij,jk->ik"')
    for part in [*parts, output]:
        if not re.fullmatch(r"(\.\.\.)?[A-Za-z]*", part) or len(part) > LIMIT:
            return Problem(
                f'"{part}" should be letters, one for each dimension, perhaps after `...`'
            )
    if len(parts) != arity:
        return Problem(f"the equation is of {len(parts)} tensors, but {arity} are given")
    missing = sorted(set(output.lstrip(".")) - set(inputs))
    if missing:
        return Problem(f"the result's `{missing[0]}` is in no argument")
    if len(set(output.lstrip("."))) < len(output.lstrip(".")):
        return Problem("a letter occurs twice in the result")
    used = set(inputs)
    element = next((name for name in "tuvw" if name not in used), "element")
    batches = [f"s{i}" for i, part in enumerate(parts, start=1) if part.startswith(".")]
    if batches and not output.startswith("."):
        return Problem("`...` must be in the result as well")
    if output.startswith(".") and not batches:
        return Problem("`...` is in the result but in no argument")
    params = [
        f"{element} {append(f's{i}' if part.startswith('.') else '[]', dims(part.lstrip('.')))}"
        for i, part in enumerate(parts, start=1)
    ]
    batch = f"broadcast({','.join(batches)})" if len(batches) > 1 else "".join(batches) or "[]"
    result = f"{element} {append(batch, dims(output.lstrip('.')))}"
    return f"({', '.join(params)}) -> {result} where {element} : num"


@einsum.means
def _(xp: Arrays, *parts: Array, equation: str) -> Array:
    return xp.einsum(equation, *parts)
