"""Shapes, and what is done with sizes: the operators that make, cut and join them."""

from __future__ import annotations

from typing import Any

import numpy

from axon.importers.onnx import contents
from axon.importers.onnx.build import MOST_CONTENTS, Elem, Node, Unsupported, array
from axon.importers.onnx.rules import rule
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.type import Tensor, Type
from axon.types.variables import ShapeVar


@rule("Constant")
def constant(node: Node) -> None:
    from axon.importers.onnx.model import tensor_contents, tensor_type

    for name in ("value_int", "value_float", "value_ints", "value_floats"):
        value = node.attribute(name)
        if value is not None:
            elem = "i64" if "int" in name else "f32"
            found = array(value)
            node.gives(Tensor(elem, found.shape), contents=found)
            return
    tensor = node.attribute("value")
    if tensor is None:
        raise Unsupported("Constant of a kind that Axon does not have")
    node.gives(tensor_type(tensor), contents=tensor_contents(tensor))


@rule("Shape")
def shape(node: Node) -> None:
    word = node.shape(0)
    start, end = node.attribute("start", 0), node.attribute("end")
    if word is None:
        node.gives(Tensor("i64", (node.fresh_dim(),)))
        return
    sizes = list(word)[start:end]
    whole = node.call("shape", node.given(0))
    if len(sizes) < len(word):
        low = start if start >= 0 else max(start + len(word), 0)
        whole = node.call("slice", whole, start=low or None, stop=low + len(sizes))
    node.says(whole, Tensor("i64", (len(sizes),)), _row(sizes))


def _row(items: list[Any]) -> Any:
    """A vector of contents: NumPy must not look inside its elements."""
    result = numpy.empty(len(items), dtype=object)
    result[:] = items
    return result


@rule("Size")
def size(node: Node) -> None:
    word = node.shape(0)
    if word is None:
        node.gives(Tensor("i64", ()))
        return
    known = numpy.empty((), dtype=object)
    known[()] = contents.product(list(word))
    node.says(node.call("size", node.given(0)), Tensor("i64", ()), known)


@rule("Gather")
def gather(node: Node) -> None:
    axis, data, index = node.attribute("axis", 0), node.contents(0), node.contents(1)
    known = None
    if data is not None and index is not None and all(isinstance(i, int) for i in index.flat):
        try:
            known = numpy.take(data, index.astype(int), axis=axis)
            known = numpy.asarray(known, dtype=object)
        except (IndexError, ValueError):
            raise Unsupported("Gather with an index that is out of range") from None
    node.gives(node.call("gather", node.given(0), node.given(1), axis=axis), contents=known)


@rule("Concat")
def concat(node: Node) -> None:
    axis = node.attribute("axis", 0)
    parts = [node.contents(i) for i in range(node.count)]
    known = None
    if any(part is not None for part in parts):
        filled = [p if p is not None else _holes(node, i) for i, p in enumerate(parts)]
        if all(p is not None and p.ndim for p in filled):
            known = numpy.concatenate(filled, axis=axis)
    if node.count == 1:
        node.gives(node.call("identity", node.given(0)), contents=known)
        return
    node.gives(
        node.call("concat", *(node.given(i) for i in range(node.count)), axis=axis), contents=known
    )


def _holes(node: Node, index: int) -> Any:
    """An array without known elements, if its size is known and small."""
    word = node.shape(index)
    if word is None or not all(isinstance(n, int) for n in word):
        return None
    return _empty(tuple(n for n in word if isinstance(n, int)))


def _empty(shape: tuple[int, ...]) -> Any:
    if numpy.prod(shape, dtype=float) > MOST_CONTENTS:
        return None
    return numpy.full(shape, None, dtype=object)


@rule("Unsqueeze")
def unsqueeze(node: Node) -> None:
    axes = node.ints(1) if node.count > 1 else node.attribute("axes")
    rank = node.rank(0)
    if axes is None:
        node.gives(node.unknown(node.elem(0)))
        return
    if rank is not None:
        axes = sorted(a + rank + len(axes) if a < 0 else a for a in axes)
    found = node.contents(0)
    known = None if found is None else numpy.expand_dims(found, tuple(axes))
    node.gives(node.call("expand_dims", node.given(0), axis=list(axes)), contents=known)


@rule("Squeeze")
def squeeze(node: Node) -> None:
    axes = node.ints(1) if node.has(1) else node.attribute("axes")
    word, found = node.shape(0), node.contents(0)
    if axes is None and (word is None or not all(isinstance(n, int) for n in word) or node.has(1)):
        node.gives(node.unknown(node.elem(0)))
        return
    if axes is None and word is not None:
        axes = [i for i, n in enumerate(word) if n == 1]
    assert axes is not None
    if not axes:
        node.gives(node.call("identity", node.given(0)), contents=found)
        return
    known = None
    if found is not None:
        known = numpy.asarray(numpy.squeeze(found, tuple(axes)), dtype=object)
    node.gives(node.call("squeeze", node.given(0), axis=list(axes)), contents=known)


@rule("Slice")
def slice_(node: Node) -> None:
    if node.count == 1:
        starts, ends = node.attribute("starts"), node.attribute("ends")
        axes, steps = node.attribute("axes"), None
    else:
        starts, ends = node.whole(1), node.whole(2)
        axes = node.ints(3) if node.has(3) else None
        steps = node.ints(4) if node.has(4) else None
        if (node.has(3) and axes is None) or (node.has(4) and steps is None):
            node.gives(node.unknown(node.elem(0), node.rank(0)))
            return
    rank = node.rank(0)
    if starts is None or ends is None:
        node.gives(_cut_somewhere(node, axes, rank))
        return
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    plain = all(isinstance(n, int) for n in (*starts, *ends))
    found, known = node.contents(0), None
    if found is not None and plain:
        index: list[slice] = [slice(None)] * found.ndim
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            low = None if step < 0 and start > 1 << 31 else start
            index[axis] = slice(low, _end(end, step), step)
        known = found[tuple(index)]
    expr = node.given(0)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == -1 and _whole_turn(start, end):
            expr = node.call("reverse", expr, axis=axis)
            continue
        if step < 1:
            node.gives(_cut_somewhere(node, axes, rank), contents=known)
            return
        stop = None if isinstance(end, int) and end > 1 << 31 else end
        word = node.shape(0)
        if start == 0 and step == 1 and word is not None and contents.is_symbol(end):
            whole = word[axis]
            assert not isinstance(whole, ShapeVar)
            if end == whole:
                continue
        expr = node.call(
            "slice",
            expr,
            axis=axis,
            start=None if start == 0 else start,
            stop=stop,
            step=None if step == 1 else step,
        )
    node.gives(expr, contents=known)


def _whole_turn(start: Any, end: Any) -> bool:
    """Whether a slice that goes backwards goes from the last element to the first."""
    known = isinstance(start, int) and isinstance(end, int)
    return known and (start == -1 or start > 1 << 31) and end < -(1 << 31)


def _end(end: int, step: int) -> int | None:
    if step < 0 and end < -(1 << 31):
        return None
    return None if end > 1 << 31 else end


def _cut_somewhere(node: Node, axes: Any, rank: int | None) -> Tensor:
    """A part of a tensor: of the same rank, and of the same sizes where it is not cut."""
    word = node.shape(0)
    if word is None or rank is None:
        return node.unknown(node.elem(0))
    cut = {a % rank for a in axes} if axes is not None else set(range(rank))
    return Tensor(
        node.elem(0), tuple(node.fresh_dim() if i in cut else n for i, n in enumerate(word))
    )


@rule("Reshape")
def reshape(node: Node) -> None:
    wanted = node.contents(1) if node.count > 1 else array(node.attribute("shape", []))
    word = node.shape(0)
    if wanted is None or wanted.ndim != 1:
        length = node.shape(1)
        rank = length[0] if length is not None and len(length) == 1 else None
        node.gives(node.unknown(node.elem(0), rank if isinstance(rank, int) else None))
        return
    sizes: list[Any] = list(wanted)
    if not node.attribute("allowzero", 0):
        for i, n in enumerate(sizes):
            if isinstance(n, int) and n == 0:
                sizes[i] = word[i] if word is not None and i < len(word) else None
    wild = [i for i, n in enumerate(sizes) if isinstance(n, int) and n == -1]
    for n in sizes:
        if contents.is_symbol(n) and not dims.is_nonnegative(n):
            node.guard(n)  # it is a size, and no -1
    if len(wild) > 1:
        raise Unsupported("Reshape with several sizes of -1")
    if wild and word is not None and all(n is not None for n in sizes):
        others = contents.product([n for i, n in enumerate(sizes) if i != wild[0]])
        total = contents.product(list(word))
        if others == 0:
            sizes[wild[0]] = None
        else:
            sizes[wild[0]] = dims.floordiv(total, others)  # without rest, or it cannot run
    shape = [node.fresh_dim() if n is None or n == -1 else n for n in sizes]
    found = node.contents(0)
    known = None
    if found is not None and all(isinstance(n, int) for n in shape):
        try:
            known = found.reshape([n for n in shape if isinstance(n, int)])
        except ValueError:
            known = None
    if all(n is not None and n != -1 for n in sizes) or word is not None or not wild:
        node.gives(node.call("reshape", node.given(0), node.shape_literal(shape)), contents=known)
    else:
        node.gives(Tensor(node.elem(0), tuple(shape)), contents=known)


@rule("Flatten")
def flatten(node: Node) -> None:
    axis, word = node.attribute("axis", 1), node.shape(0)
    if word is None:
        node.gives(node.unknown(node.elem(0), 2))
        return
    at = axis + len(word) if axis < 0 else axis
    shape = [contents.product(list(word[:at])), contents.product(list(word[at:]))]
    node.gives(node.call("reshape", node.given(0), node.shape_literal(shape)))


@rule("Expand")
def expand(node: Node) -> None:
    wanted = node.contents(1)
    if wanted is None:
        length = node.shape(1)
        rank = length[0] if length is not None and len(length) == 1 else None
        mine = node.rank(0)
        whole = max(rank, mine) if isinstance(rank, int) and mine is not None else None
        node.gives(node.unknown(node.elem(0), whole))
        return
    sizes = [node.fresh_dim() if n is None else n for n in wanted]
    elem = node.elem(0)
    sized = all(n is not None for n in wanted) and isinstance(elem, str)
    zeros: Any = node.held(Tensor(elem, tuple(sizes)))
    if sized:
        least = False if elem == "bool" else 0
        zeros = node.call("full", node.shape_literal(sizes), node.scalar(least, elem))
    other = zeros
    found, known = node.contents(0), None
    if found is not None and all(isinstance(n, int) for n in wanted):
        known = _broadcast(found, tuple(wanted))
    # both shapes broadcast: something that changes nothing is added in the shape that is wanted
    expr = node.call("logical_or" if elem == "bool" else "+", node.given(0), other)
    node.gives(expr if sized else node.infer(expr), contents=known)


def _broadcast(found: Any, shape: tuple[int, ...]) -> Any:
    try:
        whole = numpy.broadcast_shapes(found.shape, shape)
        if numpy.prod(whole, dtype=float) > MOST_CONTENTS:
            return None
        return numpy.broadcast_to(found, whole)
    except ValueError:
        return None


@rule("ConstantOfShape")
def constant_of_shape(node: Node) -> None:
    from axon.importers.onnx.model import tensor_contents, tensor_type

    tensor = node.attribute("value")
    elem: Any = "f32" if tensor is None else tensor_type(tensor).elem
    value = 0.0 if tensor is None else tensor_contents(tensor).flat[0]
    wanted = node.contents(0)
    if wanted is None:
        length = node.shape(0)
        rank = length[0] if length is not None and len(length) == 1 else None
        node.gives(node.unknown(elem, rank if isinstance(rank, int) else None))
        return
    sizes = [node.fresh_dim() if n is None else n for n in wanted]
    known = None
    if all(isinstance(n, int) for n in sizes):
        whole = tuple(n for n in sizes if isinstance(n, int))
        if numpy.prod(whole, dtype=float) <= MOST_CONTENTS:
            known = numpy.full(whole, value, dtype=object)
    if all(n is not None for n in wanted):
        filled = node.call("full", node.shape_literal(sizes), node.scalar(value, elem))
        node.gives(filled, contents=known)
    else:
        node.gives(Tensor(elem, tuple(sizes)), contents=known)


@rule("Range")
def range_(node: Node) -> None:
    parts = [node.whole(i) for i in range(3)]
    elem = node.elem(0)
    if any(part is None for part in parts) or any(isinstance(p[0], float) for p in parts if p):
        node.gives(node.unknown(elem, 1))
        return
    (start,), (stop,), (step,) = parts  # type: ignore[misc]
    if not isinstance(step, int) or step == 0:
        node.gives(node.unknown(elem, 1))
        return
    gap = contents.sub(stop, start) if step > 0 else contents.sub(start, stop)
    count = dims.floordiv(dims.add(gap, abs(step) - 1), abs(step))
    if not node.importer.is_size(count):
        count = dims.maximum(count, 0)
    known = None
    if isinstance(count, int) and isinstance(start, int) and count <= MOST_CONTENTS:
        known = _row([start + i * step for i in range(count)])
    if step == 1 and start == 0 and isinstance(elem, str):
        node.gives(node.call("range", node.size(count), to=Elem(elem)), contents=known)
    else:
        node.gives(Tensor(elem, (count,)), contents=known)


@rule("Tile")
def tile(node: Node) -> None:
    times, word = node.contents(1), node.shape(0)
    if times is None or word is None or len(times) != len(word):
        node.gives(node.unknown(node.elem(0), node.rank(0)))
        return
    sizes = [
        node.fresh_dim() if n is None else contents.mul(n, size)
        for n, size in zip(times, word, strict=True)
    ]
    if all(n is not None for n in times):
        node.gives(node.call("tile", node.given(0), reps=list(times)))
    else:
        node.gives(Tensor(node.elem(0), tuple(sizes)))


@rule("Transpose")
def transpose(node: Node) -> None:
    perm, rank = node.attribute("perm"), node.rank(0)
    if perm is None and rank is None:
        node.gives(node.unknown(node.elem(0)))
        return
    perm = list(range(rank))[::-1] if perm is None and rank is not None else perm
    found = node.contents(0)
    known = None if found is None else numpy.transpose(found, perm)
    node.gives(node.call("transpose", node.given(0), perm=perm), contents=known)


@rule("Split")
def split(node: Node) -> None:
    axis, rank = node.attribute("axis", 0), node.rank(0)
    sizes = node.whole(1) if node.has(1) else node.attribute("split")
    parts = len(node.outputs)
    word = node.shape(0)
    if node.has(1) and sizes is None:
        for name in node.outputs:
            node.importer.define(name, _cut_somewhere(node, [axis], rank))
        return
    if sizes is None:
        total = word[axis] if word is not None else None
        if isinstance(total, int) and total % parts:
            each = -(-total // parts)
            sizes = [each] * (parts - 1) + [total - each * (parts - 1)]
    if parts == 1:
        node.gives(node.call("identity", node.given(0)))
        return
    if sizes is None:
        node.gives_parts(node.call("split", node.given(0), parts=parts, axis=axis))
    else:
        node.gives_parts(node.call("split", node.given(0), sizes=list(sizes), axis=axis))
    found = node.contents(0)
    if found is not None and sizes is not None and all(isinstance(n, int) for n in sizes):
        at = 0
        for name, count in zip(node.outputs, sizes, strict=False):
            taken = numpy.take(found, range(at, at + count), axis=axis)
            node.importer.contents[name] = numpy.asarray(taken, dtype=object)
            at += count


@rule("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL2", "ReduceL1",
      "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum")  # fmt: skip
def reduce(node: Node) -> None:
    axes = node.ints(1) if node.has(1) else node.attribute("axes")
    keep = bool(node.attribute("keepdims", 1))
    rank = node.rank(0)
    if node.has(1) and axes is None:
        node.gives(node.unknown(node.elem(0), rank if keep else None))
        return
    found, known = node.contents(0), None
    vector = found is not None and found.ndim == 1 and all(item is not None for item in found)
    if vector and node.proto.op_type == "ReduceProd":
        known = numpy.empty((1,) if keep else (), dtype=object)
        known[...] = contents.product(list(found))
    if not axes:
        if node.attribute("noop_with_empty_axes", 0):
            node.gives(node.call("identity", node.given(0)), contents=node.contents(0))
            return
        if rank is None:
            node.gives(node.unknown(node.elem(0), None if keep else 0))
            return
        axes = list(range(rank))
    if not axes:  # of a scalar
        node.gives(node.call("identity", node.given(0)))
        return
    node.gives(_reduced(node, list(axes), keep), contents=known)


REDUCTIONS = {
    "ReduceProd": "prod", "ReduceSum": "sum", "ReduceMax": "max", "ReduceMin": "min",
    "ReduceMean": "mean", "ReduceLogSumExp": "logsumexp", "ReduceL2": "norm",
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")


def _reduced(node: Node, axes: list[int], keep: bool) -> ast.Expr | Type:
    x, kind = node.given(0), node.proto.op_type
    if node.elem(0) == "bool" and kind in ("ReduceMax", "ReduceMin"):
        return node.call("any" if kind == "ReduceMax" else "all", x, axis=axes, keep=keep)
    if kind in ("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"):
        return node.call(REDUCTIONS[kind], x, axis=axes, keep=keep)
    if kind == "ReduceSumSquare":
        return node.call("sum", node.call("*", x, x), axis=axes, keep=keep)
    if kind == "ReduceL1":
        return node.call("sum", node.call("abs", x), axis=axes, keep=keep)
    if node.elem(0) not in FLOATS:  # of integers ONNX has these too
        return node.infer(node.call("max", x, axis=axes, keep=keep))
    if kind == "ReduceLogSum":
        return node.call("log", node.call("sum", x, axis=axes, keep=keep))
    return node.call(REDUCTIONS[kind], x, axis=axes, keep=keep)
