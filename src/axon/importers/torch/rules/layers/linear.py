"""Products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.contents.arithmetic import same
from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.products import PRODUCT, free_letters, product
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.types import dim as dims

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def ranked(node: TorchNode, name: str, rank: int) -> Expression:
    """A tensor argument that has as many dimensions as this."""
    return node.ranked(node.tensor_index(name), rank)


@rule("linear")
def linear(node: TorchNode) -> Made:
    """A weight of one dimension is one row of a matrix, without its axis."""
    x, weight, rank = node.x("input"), node.x("weight"), node.rank_of("weight")
    at = node.tensor_index("input"), node.tensor_index("weight")
    if rank is None:
        return node.declared(PRODUCT, *at)
    if rank == 1:
        found = product(node, x, weight, node.rank(at[0]), 1)
        made = node.declared("(t s@[i], t [i]) -> t s", *at) if found is None else found
    else:
        matrix = node.call("transpose", ranked(node, "weight", 2), perm=[1, 0])
        made = node.call("project", x, matrix)
    return made if node.index("bias") is None else node.call("+", made, node.x("bias"))


@rule("matmul", "__matmul__", "linalg_matmul")
def matmul(node: TorchNode) -> Made:
    return multiplied(node, "self", "other")


def multiplied(node: TorchNode, left: str, right: str) -> Expression:
    """The product of two tensor arguments of any ranks."""
    ranks = node.rank_of(left), node.rank_of(right)
    found = product(node, node.x(left), node.x(right), *ranks)
    if found is None:
        return node.declared(PRODUCT, node.tensor_index(left), node.tensor_index(right))
    return found


@rule("mm", "_int_mm")
def mm(node: TorchNode) -> Made:
    """Of small integers into larger ones too."""
    parts = [ranked(node, name, 2) for name in ("self", "mat2")]
    if node.operator == "_int_mm":
        parts = [node.cast(part, "i32") for part in parts]
    return _as_asked(node, node.call("project", *parts))


@rule("bmm")
def bmm(node: TorchNode) -> Made:
    return _as_asked(node, node.call("matmul", ranked(node, "self", 3), ranked(node, "mat2", 3)))


def _as_asked(node: TorchNode, made: Expression) -> Expression:
    elem = node.dtype("out_dtype")
    return made if elem is None else node.cast(made, elem)


@rule("mv")
def mv(node: TorchNode) -> Made:
    return _matrix_vector(node, "self", "vec")


def _matrix_vector(node: TorchNode, matrix: str, vector: str) -> Expression:
    column = node.call("expand_dims", ranked(node, vector, 1), axis=[1])
    made = node.call("project", ranked(node, matrix, 2), column)
    return node.call("squeeze", made, axis=[-1])


@rule("dot", "vdot")
def dot(node: TorchNode) -> Made:
    other = "tensor" if "tensor" in node.attributes else "other"
    return node.call("dot", ranked(node, "self", 1), ranked(node, other, 1))


@rule("outer", "ger")
def outer(node: TorchNode) -> Made:
    return node.call("outer", ranked(node, "self", 1), ranked(node, "vec2", 1))


@rule("inner")
def inner(node: TorchNode) -> Made:
    """Over the last axes of both; a tensor without dimensions scales the other."""
    left, right = node.rank_of("self"), node.rank_of("other")
    if left == 0 or right == 0:
        return node.call("*", node.x("self"), node.x("other"))
    return _contracted(node, "self", "other", [-1], [-1])


@rule("tensordot")
def tensordot(node: TorchNode) -> Made:
    return _contracted(
        node, "self", "other", node.integers("dims_self"), node.integers("dims_other")
    )


def _contracted(
    node: TorchNode, left: str, right: str, mine: Sequence[int], theirs: Sequence[int]
) -> Expression:
    """The sum of products over axes of two tensors, pair by pair."""
    ranks = node.rank_of(left), node.rank_of(right)
    at = node.tensor_index(left), node.tensor_index(right)
    if None in ranks:
        return node.declared(PRODUCT, *at)
    one, other = ((rank or 0) for rank in ranks)
    if len(mine) != len(theirs) or one + other > len(LETTERS):
        raise Malformed("it does not have as many axes of one tensor as of the other")
    sides = ((one, mine), (other, theirs))
    if any(not -rank <= axis < rank for rank, axes in sides for axis in axes):
        raise Malformed("it has an axis that its tensor does not have")
    first, second = list(LETTERS[:one]), list(LETTERS[one : one + other])
    for a, b in zip(mine, theirs, strict=True):
        second[b] = first[a]
    summed = {first[axis] for axis in mine}
    rest = [letter for letter in first + second if letter not in summed]
    return _einsum(node, [first, second], rest, at)


@rule("addmm", "addbmm", "baddbmm", "addmv", "addr", "_addmm_activation")
def added_product(node: TorchNode) -> Made:
    """`beta * self + alpha * product`; without a beta, self counts for nothing."""
    kind = node.operator.rstrip("_")
    if "addmm" in kind:
        made = node.call("project", ranked(node, "mat1", 2), ranked(node, "mat2", 2))
    elif kind == "addmv":
        made = _matrix_vector(node, "mat", "vec")
    elif kind == "addr":
        made = node.call("outer", ranked(node, "vec1", 1), ranked(node, "vec2", 1))
    else:
        made = node.call("matmul", ranked(node, "batch1", 3), ranked(node, "batch2", 3))
        if kind == "addbmm":
            made = node.call("sum", made, axis=[0])
    elem, x = node.elem_of(), node.x()
    if node.argument("alpha") not in (None, 1):
        made = node.call("*", made, node.operand("alpha", elem))
    if node.argument("beta") not in (None, 1):
        x = node.call("*", x, node.operand("beta", elem))
    if not _is_row(node, kind):
        x = node.call("broadcast_to", x, node.call("shape", made))
    made = node.call("+", x, made)
    if kind == "_addmm_activation":
        return node.call("gelu" if node.flag("use_gelu") else "relu", made)
    return _as_asked(node, made)


def _is_row(node: TorchNode, kind: str) -> bool:
    """Whether what is added to a product of matrices is one of its rows, so that the sum has the
    shape of the product.
    """
    own = node.shape(node.tensor_index("self"))
    if "addmm" not in kind or own is None or len(own) != 1:
        return False
    return own[0] == 1 or same(own[0], node.size_of("mat2", 1))


@rule("einsum")
def einsum(node: TorchNode) -> Made:
    equation = node.text("equation").replace(" ", "")
    indices = node.indices("tensors", 1)
    left, arrow, result = equation.partition("->")
    parts = left.split(",")
    if not equation or len(parts) != len(indices):
        raise Unsupported("einsum with another number of tensors than its equation has")
    if not arrow:
        result = free_letters(left)
    return _einsum(node, parts, result, indices)


def _einsum(
    node: TorchNode, parts: Sequence[Sequence[str]], result: Sequence[str], at: Sequence[int]
) -> Expression:
    """A sum of products by letters. A size of 1 goes with any other of the same letter: that axis
    is left out where another tensor has the size.
    """
    tensors = [node.input(i) for i in at]
    words = [list(part) for part in parts]
    sizes: dict[str, list[Any]] = {}
    known = []
    for word, i in zip(words, at, strict=True):
        own = node.shape(i)
        fits = own is not None and "." not in word and len(own) == len(word)
        known.append(own if fits else None)
        for letter, size in zip(word, own if fits and own is not None else (), strict=False):
            sizes.setdefault(letter, []).append(size)
    for number, (word, own) in enumerate(zip(words, known, strict=True)):
        if own is None:
            continue
        ones = [
            axis
            for axis, letter in enumerate(word)
            if own[axis] == 1 and word.count(letter) == 1 and set(sizes[letter]) != {1}
        ]
        if ones and _has_elsewhere(words, number, [word[axis] for axis in ones]):
            tensors[number] = node.call("squeeze", tensors[number], axis=ones)
            words[number] = [letter for axis, letter in enumerate(word) if axis not in ones]
    left = ",".join("".join(word) for word in words)
    return node.call("einsum", *tensors, equation=f"{left}->{''.join(result)}")


def _has_elsewhere(words: list[list[str]], number: int, letters: list[str]) -> bool:
    others = {letter for i, word in enumerate(words) if i != number for letter in word}
    return set(letters) <= others


@rule("linalg_multi_dot", "chain_matmul")
def multi_dot(node: TorchNode) -> Made:
    name = "tensors" if "tensors" in node.attributes else "matrices"
    first, *rest = node.indices(name, 1)
    made, rank = node.input(first), node.rank(first)
    for index in rest:
        right = node.rank(index)
        found = product(node, made, node.input(index), rank, right)
        if found is None or rank is None or right is None:
            return node.declared(PRODUCT, first, rest[-1])
        made, rank = found, rank + right - 2
    return made


@rule("kron")
def kron(node: TorchNode) -> Made:
    """Every product of elements; the sizes are multiplied axis by axis, counted from the last."""
    at = node.tensor_index("self"), node.tensor_index("other")
    words = [node.shape(i) for i in at]
    elem = node.joint("self", "other")
    tensors = [node.operand(name, elem) for name in ("self", "other")]
    if words[0] is None or words[1] is None:
        return node.declared(PRODUCT, *at)
    rank = max(map(len, words))  # type: ignore[arg-type]
    moved, own = [], []
    for side, (x, word) in enumerate(zip(tensors, words, strict=True)):
        assert word is not None
        ones = rank - len(word)
        full = node.call("expand_dims", x, axis=list(range(ones))) if ones else x
        axes = [2 * i + (0 if side else 1) for i in range(rank)]
        moved.append(node.call("expand_dims", full, axis=axes) if rank else full)
        own.append([node.call("size", full, axis=i) for i in range(rank)])
    made = node.call("*", *moved)
    sizes = _multiplied(words, rank)
    held = node.list_of([node.call("*", a, b) for a, b in zip(*own, strict=True)])
    return node.call("reshape", made, node.shape_literal(sizes, held)) if rank else made


def _multiplied(words: Sequence[Any], rank: int) -> list[Any]:
    one, other = ([1] * (rank - len(word)) + list(word) for word in words)
    return [dims.mul(a, b) for a, b in zip(one, other, strict=True)]


@rule("bilinear")
def bilinear(node: TorchNode) -> Made:
    parts = [node.x("input1"), node.x("weight"), node.x("input2")]
    made = node.call("einsum", *parts, equation="...i,oij,...j->...o")
    return made if node.index("bias") is None else node.call("+", made, node.x("bias"))


@rule("_trilinear")
def trilinear(node: TorchNode) -> Made:
    """The product of three tensors with new axes put in, summed over some."""
    parts = []
    for i in ("1", "2", "3"):
        x, axes = node.x(f"i{i}"), node.integers(f"expand{i}")
        parts.append(node.call("expand_dims", x, axis=axes) if axes else x)
    made = node.call("*", node.call("*", parts[0], parts[2]), parts[1])
    axes = node.integers("sumdim")
    return node.call("sum", made, axis=axes) if axes else made
