"""What looks things up, in order or by numbers."""

from __future__ import annotations

from typing import Any

from axon.contents.reals import Real
from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.registry import rule
from axon.importers.runtime_values import cut_to, scalar_of
from axon.types.type import shape_size

MOST_AXES = 8
"""Among how many axes a run may choose."""

# --- along an axis ---------------------------------------------------------------------------


@rule("CumSum", "CumProd")
def cumulate(node: Node) -> Made:
    axis, rank = node.ints(1), node.rank(0)
    if axis:
        return _so_far(node, axis[0])
    if rank is None or not 1 <= rank <= MOST_AXES:
        return node.type_of(node.input(0))
    number = node.call("mod", scalar_of(node, 1), node.literal(rank))
    made = _so_far(node, rank - 1)
    for i in reversed(range(rank - 1)):
        chosen = node.call("==", number, node.literal(i))
        made = node.call("where", chosen, _so_far(node, i), made)
    return made


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
    how = {"axis": node.attribute("axis", -1), "largest": bool(node.attribute("largest", 1))}
    if not node.has(1):
        node.set_tuple_outputs(node.call("top_k", node.input(0), k=node.attribute("k", 1), **how))
        return
    found, by = node.known_elements(1), node.call("index", node.sized(1, [1]), i=0)
    expr = fallback = node.call("top_k", node.input(0), k=by, **how)
    if found:
        expr = node.call("top_k", node.input(0), k=found[0], **how)
    node.set_tuple_outputs(expr, fallback=fallback)


# --- by numbers ------------------------------------------------------------------------------


@rule("GatherElements")
def gather_elements(node: Node) -> Made:
    data, word, axis = node.shape(0), node.shape(1), node.attribute("axis", 0)
    if word is None or data is None:
        return node.declared("(t p, i q) -> t q where rank(p) = rank(q)", 0, 1)
    whole = x = node.input(0)
    if len(data) == len(word) and -len(word) <= axis < len(word):
        others = [i for i in range(len(word)) if i != axis % len(word)]
        x = cut_to(node, x, 0, 1, others)
    made = node.call("gather_elements", x, node.input(1), axis=axis)
    sizes: list[Any] = list(word)
    return made if x is whole else node.shaped(made, sizes)


@rule("GatherND")
def gather_nd(node: Node) -> Made:
    index, batch = node.shape(1), node.attribute("batch_dims", 0)
    if index is None or not index or not isinstance(index[-1], int):
        return node.declared("(t p, i q) -> t ?r", 0, 1)
    parts = node.input(0), node.input(1)
    return node.call("gather_nd", *parts, axes=index[-1], batch=batch)


@rule("OneHot")
def one_hot(node: Node) -> Made:
    depth, axis = node.known_elements(1), node.attribute("axis", -1)
    size: Any = depth[0] if depth and not isinstance(depth[0], float | Real) else None
    if depth and isinstance(depth[0], float) and depth[0].is_integer():
        size = int(depth[0])
    fallback = None if isinstance(size, int) else _one_hot(node, None, axis)
    return (_one_hot(node, size, axis), fallback)


def _one_hot(node: Node, depth: Any, axis: int) -> Expression:
    """Numbers that are negative count from the end; then one value here, and another elsewhere."""
    numbers = node.cast(node.input(0), "i64")
    size = node.literal(depth)
    if depth is None:
        size = depth = node.cast(scalar_of(node, 1), "i64")
    zero = node.literal(0)
    counted = node.call(
        "where", node.call("<", numbers, zero), node.call("+", numbers, size), numbers
    )
    hot = node.call("one_hot", counted, depth=depth, axis=axis, to="bool")
    off, on = (node.call("index", node.input(2), i=i) for i in (0, 1))
    return node.call("where", hot, on, off)


# --- by truth --------------------------------------------------------------------------------


@rule("NonZero")
def nonzero(node: Node) -> Made:
    count, rank = _nonzero_count(node), node.rank(0)
    made = node.call("transpose", node.call("argwhere", node.input(0)), perm=[1, 0])
    return made if count is None or rank is None else node.shaped(made, [rank, count])


def _nonzero_count(node: Node) -> Any:
    """How many elements are not zero, if that is known: exporters count so, with a tensor of
    ones.
    """
    word, known, filled = (
        node.shape(0),
        node.known_elements(0),
        node.importer.filled.get(node.name(0)),
    )
    if known is not None and all(isinstance(item, int | float) for item in known):
        return sum(item != 0 for item in known)
    if filled is None or word is None:
        return None
    node.alone = True  # another tensor of that type may hold anything
    return shape_size(word) if filled else 0


@rule("Compress")
def compress(node: Node) -> Made:
    axis, x = node.attribute("axis"), node.input(0)
    if axis is None:
        flat = node.call("flatten", x)
        size = node.call("slice", flat, stop=node.call("size", node.input(1)))
        return node.call("compress", size, node.input(1))
    if node.shape(1) != (node.dim(0, axis),):
        stop = node.call("size", node.input(1))
        x = node.call("slice", x, stop=stop, axis=axis)
    return node.call("compress", x, node.input(1), axis=axis)


@rule("Unique")
def unique(node: Node) -> None:
    axis, ordered = node.attribute("axis"), bool(node.attribute("sorted", 1))
    x = node.call("flatten", node.input(0)) if axis is None else node.input(0)
    node.set_tuple_outputs(node.call("distinct", x, axis=axis or 0, ordered=ordered))


# --- matrices --------------------------------------------------------------------------------


@rule("Trilu")
def trilu(node: Node) -> Made:
    upper = bool(node.attribute("upper", 1))
    diagonal = node.ints(1) if node.has(1) else [0]
    if diagonal:
        return node.call("triu" if upper else "tril", node.input(0), k=diagonal[0])
    part = "upper_triangle" if upper else "lower_triangle"
    return node.call(part, node.input(0), scalar_of(node, 1))


@rule("EyeLike")
def eye_like(node: Node) -> Made:
    elem, x = ELEMENTS.get(node.attribute("dtype", 0)), node.input(0)
    made = node.call("diagonal_mask", x, node.literal(node.attribute("k", 0)))
    return node.call("cast_like", made, x) if elem is None else node.cast(made, elem)


@rule("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def like(node: Node) -> Made:
    elem = ELEMENTS.get(node.attribute("dtype", 0)) or "t"
    return node.declared(f"t s -> {elem} s", 0)
