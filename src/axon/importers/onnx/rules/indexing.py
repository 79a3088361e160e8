"""What looks things up, in order or by numbers."""

from __future__ import annotations

from typing import Any

from axon.importers.contents.reals import Real
from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.registry import rule
from axon.importers.runtime_values import cut_to, replaced, scalar_of, set_tuple
from axon.types.type import Tensor, Tuple, shape_size

MOST_AXES = 8
"""Among how many axes a run may choose."""

# --- along an axis ---------------------------------------------------------------------------


@rule("ArgMax", "ArgMin")
def argmax(node: Node) -> None:
    kind = "argmax" if node.operator == "ArgMax" else "argmin"
    expr = node.call(
        kind,
        node.input(0),
        axis=node.attribute("axis", 0),
        keep=bool(node.attribute("keepdims", 1)),
        last=bool(node.attribute("select_last_index", 0)),
    )
    node.set_outputs(expr)


@rule("CumSum", "CumProd")
def cumulate(node: Node) -> None:
    axis, rank = node.ints(1), node.rank(0)
    if axis:
        node.set_outputs(_so_far(node, axis[0]))
        return
    later = None
    if rank is not None and 1 <= rank <= MOST_AXES:
        number = node.call("mod", scalar_of(node, 1), node.literal(rank))
        later = _so_far(node, rank - 1)
        for i in reversed(range(rank - 1)):
            chosen = node.call("==", number, node.literal(i))
            later = node.call("where", chosen, _so_far(node, i), later)
    node.set_outputs(node.importer.types[node.name(0)], fallback=later)


def _so_far(node: Node, axis: int) -> Expression:
    return node.call(
        "cumsum" if node.operator == "CumSum" else "cumprod",
        node.input(0),
        axis=axis,
        exclusive=bool(node.attribute("exclusive", 0)),
        reverse=bool(node.attribute("reverse", 0)),
    )


@rule("TopK")
def top_k(node: Node) -> None:
    axis, largest = node.attribute("axis", -1), bool(node.attribute("largest", 1))
    if node.has(1):
        node.has_shape(1, [1])
    found = node.known_elements(1) if node.has(1) else [node.attribute("k", 1)]
    k: Any = found[0] if found else node.fresh_dim()
    expr = node.call("top_k", node.input(0), k=k, axis=axis, largest=largest)
    types = node.importer.state.prune(node.infer(expr))
    if not isinstance(types, Tuple):
        raise Unsupported("TopK of no tensor, or along an axis that it does not have")
    later = None
    if node.has(1):
        by = scalar_of(node, 1)
        later = node.call("top_k", node.input(0), axis=axis, largest=largest, k=by)
    set_tuple(node, types.items, later, expr if found else None)


@rule("ReverseSequence")
def reverse_sequence(node: Node) -> None:
    time, batch = node.attribute("time_axis", 0), node.attribute("batch_axis", 1)
    node.set_outputs(
        node.call("reverse_sequence", node.input(0), node.input(1), time=time, batch=batch)
    )


# --- by numbers ------------------------------------------------------------------------------


@rule("GatherElements")
def gather_elements(node: Node) -> None:
    data, word, axis = node.shape(0), node.shape(1), node.attribute("axis", 0)
    if word is None:
        node.set_outputs(node.unknown(node.elem(0), node.rank(0)))
        return
    later = node.call("gather_elements", node.input(0), node.input(1), axis=axis)
    if data is None:
        node.has_rank(0, len(word))
    elif len(data) == len(word) and -len(word) <= axis < len(word):
        others = [i for i in range(len(word)) if i != axis % len(word)]
        x = cut_to(node, node.input(0), 0, 1, others)
        later = node.call("gather_elements", x, node.input(1), axis=axis)
    node.set_outputs(Tensor(node.elem(0), word), fallback=None if data is None else later)


@rule("GatherND")
def gather_nd(node: Node) -> None:
    data, index = node.shape(0), node.shape(1)
    batch = node.attribute("batch_dims", 0)
    if index is None or not index or not isinstance(index[-1], int):
        node.set_outputs(node.unknown(node.elem(0)))
        return
    expr = node.call("gather_nd", node.input(0), node.input(1), axes=index[-1], batch=batch)
    if data is None:
        node.set_outputs(expr)
    else:
        shape = (*index[:-1], *data[batch + index[-1] :])
        node.set_outputs(Tensor(node.elem(0), shape), fallback=expr)


@rule("OneHot")
def one_hot(node: Node) -> None:
    word, depth = node.shape(0), node.known_elements(1)
    axis = node.attribute("axis", -1)
    size: Any = depth[0] if depth and not isinstance(depth[0], float | Real) else None
    if depth and isinstance(depth[0], float) and depth[0].is_integer():
        size = int(depth[0])
    later = _one_hot(node, size, axis)
    if word is None:
        node.set_outputs(node.unknown(node.elem(2)), fallback=later)
        return
    at = axis + len(word) + 1 if axis < 0 else axis
    shape = (*word[:at], node.fresh_dim() if size is None else size, *word[at:])
    node.set_outputs(Tensor(node.elem(2), shape), fallback=later)


def _one_hot(node: Node, depth: Any, axis: int) -> Expression:
    """Numbers that are negative count from the end; then one value here, and another elsewhere."""
    numbers = node.call("cast", node.input(0), to=Elem("i64"))
    size = node.call("cast", scalar_of(node, 1), to=Elem("i64"))
    if isinstance(depth, int):
        size = node.literal(depth)
    zero = node.literal(0)
    counted = node.call(
        "where", node.call("<", numbers, zero), node.call("+", numbers, size), numbers
    )
    hot = node.call("one_hot", counted, depth=size, axis=axis, to=Elem("bool"))
    off, on = (node.call("index", node.input(2), i=i) for i in (0, 1))
    return node.call("where", hot, on, off)


# --- by truth --------------------------------------------------------------------------------


@rule("NonZero")
def nonzero(node: Node) -> None:
    rank = node.rank(0)
    shape = (node.fresh_dim() if rank is None else rank, _nonzero_count(node))
    later = node.call("transpose", node.call("argwhere", node.input(0)), perm=[1, 0])
    node.set_outputs(Tensor("i64", shape), fallback=later)


def _nonzero_count(node: Node) -> Any:
    """How many elements are not zero: exporters count so, with a tensor of ones."""
    word, known, filled = (
        node.shape(0),
        node.known_elements(0),
        node.importer.filled.get(node.name(0)),
    )
    if known is not None and all(isinstance(item, int | float) for item in known):
        return sum(item != 0 for item in known)
    if filled is None or word is None:
        return node.fresh_dim()
    node.alone = True  # another tensor of that type may hold anything
    return shape_size(word) if filled else 0


@rule("Compress")
def compress(node: Node) -> None:
    axis, word, mask = node.attribute("axis"), node.shape(0), node.shape(1)
    if axis is None:
        flat = node.call("flatten", node.input(0))
        size = node.call("slice", flat, stop=node.call("size", node.input(1)))
        later = node.call("compress", size, node.input(1))
        node.set_outputs(Tensor(node.elem(0), (node.fresh_dim(),)), fallback=later)
        return
    if word is None:
        node.set_outputs(node.unknown(node.elem(0)))
        return
    if not -len(word) <= axis < len(word):
        raise Unsupported("Compress along an axis that there is not")
    x = node.input(0)
    if mask is None or len(mask) != 1 or mask[0] != word[axis]:
        stop = node.call("size", node.input(1))
        x = node.call("slice", x, stop=stop, axis=axis)
    later = node.call("compress", x, node.input(1), axis=axis)
    shape = replaced(word, axis, node.fresh_dim())
    node.set_outputs(Tensor(node.elem(0), shape), fallback=later)


@rule("Unique")
def unique(node: Node) -> None:
    axis, word, count = node.attribute("axis"), node.shape(0), node.fresh_dim()
    first, every = Tensor(node.elem(0), (count,)), node.fresh_dim()
    size: Any = every
    x = node.input(0)
    if axis is None:
        x = node.call("flatten", x)
        size = every if word is None else shape_size(word)
    elif word is None:
        first = node.unknown(node.elem(0))
    elif not -len(word) <= axis < len(word):
        raise Unsupported("Unique along an axis that there is not")
    else:
        size = word[axis]
        first = Tensor(node.elem(0), replaced(word, axis, count))
    ordered = bool(node.attribute("sorted", 1))
    later = node.call("distinct", x, axis=axis or 0, ordered=ordered)
    one, all_ = Tensor("i64", (count,)), Tensor("i64", (size,))
    set_tuple(node, [first, one, all_, one], later)


# --- matrices --------------------------------------------------------------------------------


@rule("Trilu")
def trilu(node: Node) -> None:
    upper = bool(node.attribute("upper", 1))
    diagonal = node.ints(1) if node.has(1) else [0]
    if diagonal:
        node.set_outputs(node.call("triu" if upper else "tril", node.input(0), k=diagonal[0]))
        return
    x = node.input(0)
    rows = _numbers(node, x, -2)
    columns = node.call("-", _numbers(node, x, -1), scalar_of(node, 1))
    kept = node.call("<=" if upper else ">=", rows, columns)
    later = node.call("where", kept, x, node.call("zeros_like", x))
    node.set_outputs(node.importer.types[node.name(0)], fallback=later)


def _numbers(node: Node, x: Expression, axis: int) -> Expression:
    """The numbers of the rows, or of the columns, of a matrix, as they broadcast."""
    count = node.call("range", node.call("size", x, axis=axis))
    return node.call("expand_dims", count, axis=[1]) if axis == -2 else count


@rule("EyeLike")
def eye_like(node: Node) -> None:
    word = node.shape(0)
    elem = ELEMENTS.get(node.attribute("dtype", 0)) or node.elem(0)
    if word is None or not isinstance(elem, str):
        node.set_outputs(node.unknown(elem, 2))
        return
    x, k = node.input(0), node.attribute("k", 0)
    rows, columns = _numbers(node, x, -2), _numbers(node, x, -1)
    if k:
        columns = node.call("-", columns, node.literal(k))
    later = node.call("cast", node.call("==", rows, columns), to=Elem(elem))
    node.set_outputs(Tensor(elem, word), fallback=later)


@rule("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def like(node: Node) -> None:
    word = node.shape(0)
    elem = ELEMENTS.get(node.attribute("dtype", 0)) or node.elem(0)
    node.set_outputs(node.unknown(elem) if word is None else Tensor(elem, word))
