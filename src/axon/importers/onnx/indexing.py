"""What looks things up, and puts them somewhere."""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.build import Node
from axon.importers.onnx.rules import rule
from axon.types.type import Tensor


@rule("ArgMax", "ArgMin")
def argmax(node: Node) -> None:
    keep = bool(node.attribute("keepdims", 1))
    kind = "argmax" if node.proto.op_type == "ArgMax" else "argmin"
    expr = node.call(kind, node.given(0), axis=node.attribute("axis", 0), keep=keep)
    node.gives(node.infer(expr) if node.attribute("select_last_index", 0) else expr)


@rule("CumSum")
def cumsum(node: Node) -> None:
    axis = node.ints(1)
    if axis is None or node.attribute("exclusive", 0) or node.attribute("reverse", 0):
        node.gives(node.importer.types[node.name(0)])
    else:
        node.gives(node.call("cumsum", node.given(0), axis=axis[0]))


@rule("TopK")
def top_k(node: Node) -> None:
    count = node.whole(1)
    k: Any = node.fresh_dim() if count is None else count[0]
    axis, largest = node.attribute("axis", -1), bool(node.attribute("largest", 1))
    node.gives_parts(node.call("top_k", node.given(0), k=k, axis=axis, largest=largest))


@rule("GatherElements")
def gather_elements(node: Node) -> None:
    word = node.shape(1)
    if word is None:
        node.gives(node.unknown(node.elem(0), node.rank(0)))
    else:
        node.gives(Tensor(node.elem(0), word))


@rule("GatherND")
def gather_nd(node: Node) -> None:
    data, index = node.shape(0), node.shape(1)
    batch = node.attribute("batch_dims", 0)
    if data is None or index is None or not index or not isinstance(index[-1], int):
        node.gives(node.unknown(node.elem(0)))
        return
    node.gives(Tensor(node.elem(0), (*index[:-1], *data[batch + index[-1] :])))


@rule("ScatterND", "ScatterElements", "Scatter", "TensorScatter")
def scatter(node: Node) -> None:
    node.gives(node.importer.types[node.name(0)])


@rule("Trilu")
def trilu(node: Node) -> None:
    diagonal = node.ints(1) if node.has(1) else [0]
    if diagonal is None:
        node.gives(node.importer.types[node.name(0)])
        return
    kind = "triu" if node.attribute("upper", 1) else "tril"
    node.gives(node.call(kind, node.given(0), k=diagonal[0]))


@rule("OneHot")
def one_hot(node: Node) -> None:
    word, depth = node.shape(0), node.whole(1)
    if word is None:
        node.gives(node.unknown(node.elem(2)))
        return
    axis = node.attribute("axis", -1)
    at = axis + len(word) + 1 if axis < 0 else axis
    size = node.fresh_dim() if depth is None or isinstance(depth[0], float) else depth[0]
    node.gives(Tensor(node.elem(2), (*word[:at], size, *word[at:])))


@rule("NonZero")
def nonzero(node: Node) -> None:
    rank = node.rank(0)
    node.gives(Tensor("i64", (node.fresh_dim() if rank is None else rank, node.fresh_dim())))


@rule("EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli")
def like(node: Node) -> None:
    from axon.importers.onnx.build import ELEMENTS

    word = node.shape(0)
    elem = ELEMENTS.get(node.attribute("dtype", 0)) or node.elem(0)
    node.gives(node.unknown(elem) if word is None else Tensor(elem, word))


@rule("Pad")
def pad(node: Node) -> None:
    pads = node.whole(1) if node.count > 1 else node.attribute("pads")
    word = node.shape(0)
    axes = node.ints(3) if node.has(3) else None
    if pads is None or word is None or (node.has(3) and axes is None):
        node.gives(node.unknown(node.elem(0), node.rank(0)))
        return
    from axon.importers.onnx import contents

    axes = list(range(len(word))) if axes is None else [a % len(word) for a in axes]
    sizes = list(word)
    for i, axis in enumerate(axes):
        both = contents.add(pads[i], pads[i + len(axes)])
        sizes[axis] = contents.add(sizes[axis], both)
    node.gives(Tensor(node.elem(0), tuple(sizes)))


@rule("Unique")
def unique(node: Node) -> None:
    axis, word, count = node.attribute("axis"), node.shape(0), node.fresh_dim()
    first = Tensor(node.elem(0), (count,))
    if axis is not None:
        if word is None:
            first = node.unknown(node.elem(0))
        else:
            at = axis % len(word)
            first = Tensor(node.elem(0), (*word[:at], count, *word[at + 1 :]))
    every = node.fresh_dim()
    node.gives(first, Tensor("i64", (count,)), Tensor("i64", (every,)), Tensor("i64", (count,)))
