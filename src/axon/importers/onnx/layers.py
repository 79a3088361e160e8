"""Layers: products of matrices, convolutions, pools, norms, and what looks things up."""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.build import Elem, Node, Unsupported
from axon.importers.onnx.rules import rule
from axon.syntax import ast
from axon.types.type import Tensor
from axon.types.variables import ShapeVar


@rule("MatMul", "MatMulInteger")
def matmul(node: Node) -> None:
    left, right = node.rank(0), node.rank(1)
    x, y = node.given(0), node.given(1)
    if node.proto.op_type == "MatMulInteger":
        x, y = (node.call("cast", e, to=Elem("i32")) for e in (x, y))
        if right == 2:  # it also takes zero points off
            node.gives(node.infer(node.call("project", x, y)))
            return
    if right == 2:
        node.gives(node.call("project", x, y))
    elif right == 1 and left is not None and left > 1:
        column = node.call("expand_dims", y, axis=[1])
        node.gives(node.call("squeeze", node.call("project", x, column), axis=[-1]))
    elif left == 1 and right == 1:
        node.gives(node.call("dot", x, y))
    elif left == 1 and right is not None:
        row = node.call("expand_dims", x, axis=[0])
        node.gives(node.call("squeeze", node.call("@", row, y), axis=[-2]))
    elif (left is not None and left > 1) or (right is not None and right > 2):
        if left is None or right is None:
            node.gives(node.unknown(node.elem(0)))
        else:
            node.gives(node.call("@", x, y))
    else:
        node.gives(node.unknown(node.elem(0)))


@rule("Gemm")
def gemm(node: Node) -> None:
    x, w = node.given(0), node.given(1)
    if node.attribute("transA", 0):
        x = node.call("transpose", x, perm=[1, 0])
    if node.attribute("transB", 0):
        w = node.call("transpose", w, perm=[1, 0])
    expr = node.call("einsum", x, w, equation="ik,kj->ij")
    elem = node.elem(0) if isinstance(node.elem(0), str) else node.elem(1)
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    if alpha != 1 and isinstance(elem, str):
        expr = node.call("*", expr, node.scalar(alpha, elem))
    if node.has(2):
        bias = node.given(2)
        if beta != 1 and isinstance(elem, str):
            bias = node.call("*", bias, node.scalar(beta, elem))
        matrix = node.call("broadcast_to", bias, node.call("shape", expr))
        expr = node.call("+", expr, matrix)
    node.gives(expr)


@rule("Einsum")
def einsum(node: Node) -> None:
    equation = str(node.attribute("equation", "")).replace(" ", "")
    if "->" not in equation:
        raise Unsupported("Einsum without ->")
    parts = [node.given(i) for i in range(node.count)]
    node.gives(node.call("einsum", *parts, equation=equation))


def _spatial(node: Node, index: int = 0) -> int | None:
    rank = node.rank(index)
    return None if rank is None else rank - 2


@rule("Conv", "ConvInteger")
def conv(node: Node) -> None:
    spatial = _spatial(node, 1) or _spatial(node, 0)
    if spatial is None:
        node.gives(node.unknown(node.elem(0)))
        return
    if spatial not in (1, 2, 3):
        raise Unsupported("Conv over more than three dimensions")
    auto, pads = node.attribute("auto_pad", "NOTSET"), node.attribute("pads")
    pad: Any = pads
    if auto == "SAME_UPPER" or auto == "SAME_LOWER":
        pad = "same"
    parts = [node.given(i) for i in range(3) if node.has(i)]
    if node.proto.op_type == "ConvInteger":
        parts = [node.call("cast", part, to=Elem("i32")) for part in parts[:2]]
        node.gives(node.infer(_conv(node, parts, spatial, pad)))
    elif auto == "SAME_LOWER":
        node.gives(node.infer(_conv(node, parts, spatial, pad)))
    else:
        node.gives(_conv(node, parts, spatial, pad))


def _conv(node: Node, parts: list[ast.Expr], spatial: int, pad: Any) -> ast.Expr:
    return node.call(
        "conv",
        *parts,
        stride=node.attribute("strides") or [1] * spatial,
        pad=pad or [0] * spatial,
        dilation=node.attribute("dilations") or [1] * spatial,
        groups=node.attribute("group", 1),
    )


@rule("ConvTranspose")
def conv_transpose(node: Node) -> None:
    spatial = _spatial(node, 1) or _spatial(node, 0)
    if spatial is None or spatial not in (1, 2, 3):
        node.gives(node.unknown(node.elem(0), None if spatial is None else spatial + 2))
        return
    if node.attribute("output_shape") or node.attribute("auto_pad", "NOTSET") != "NOTSET":
        raise Unsupported("ConvTranspose with a shape of its own")
    node.gives(
        node.call(
            "conv_transpose",
            *(node.given(i) for i in range(3) if node.has(i)),
            stride=node.attribute("strides") or [1] * spatial,
            pad=node.attribute("pads") or [0] * spatial,
            dilation=node.attribute("dilations") or [1] * spatial,
            output_pad=node.attribute("output_padding") or [0] * spatial,
            groups=node.attribute("group", 1),
        )
    )


@rule("MaxPool", "AveragePool", "LpPool")
def pool(node: Node) -> None:
    window = node.attribute("kernel_shape")
    spatial = len(window)
    auto = node.attribute("auto_pad", "NOTSET")
    pad: Any = node.attribute("pads") or [0] * spatial
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pad = "same"
    average = node.proto.op_type == "AveragePool"
    expr = node.call(
        "avg_pool" if average else "max_pool",
        node.given(0),
        window=window,
        stride=node.attribute("strides") or [1] * spatial,
        pad=pad,
        dilation=node.attribute("dilations"),
        ceil_mode=bool(node.attribute("ceil_mode", 0)) or None,
        count_pad=bool(node.attribute("count_include_pad", 0)) or None if average else None,
    )
    plain = node.proto.op_type != "LpPool" and auto != "SAME_LOWER"
    node.gives(expr if plain else node.infer(expr))
    if len(node.outputs) > 1 and node.outputs[1]:
        found = ast.Name(node.importer.alias(node.outputs[0]), node.span)
        node.gives(None, node.infer(node.call("cast", found, to=Elem("i64"))))


@rule("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: Node) -> None:
    rank = node.rank(0)
    if rank is None:
        node.gives(node.unknown(node.elem(0)))
        return
    kind = "mean" if node.proto.op_type == "GlobalAveragePool" else "max"
    node.gives(node.call(kind, node.given(0), axis=list(range(2, rank)), keep=True))


@rule("BatchNormalization")
def batch_norm(node: Node) -> None:
    parts = [node.given(i) for i in range(5)]
    node.gives(node.call("batch_norm", *parts, epsilon=node.attribute("epsilon", 1e-5)))


@rule("InstanceNormalization")
def instance_norm(node: Node) -> None:
    parts = [node.given(i) for i in range(3)]
    node.gives(node.call("instance_norm", *parts, epsilon=node.attribute("epsilon", 1e-5)))


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def layer_norm(node: Node) -> None:
    axis, rank = node.attribute("axis", -1), node.rank(0)
    last = axis == -1 or (rank is not None and axis == rank - 1)
    if last and node.proto.op_type == "LayerNormalization" and node.rank(1) == 1:
        parts = [node.given(i) for i in range(node.count) if node.has(i)]
        node.gives(node.call("layer_norm", *parts, epsilon=node.attribute("epsilon", 1e-5)))
    else:
        node.gives(node.importer.types[node.name(0)])
    if rank is not None:
        word = node.shape(0)
        assert word is not None
        at = axis + rank if axis < 0 else axis
        rest = Tensor("f32", (*word[:at], *([1] * (rank - at))))
        node.gives(None, *[rest for _ in node.outputs[1:]])


@rule("GroupNormalization")
def group_norm(node: Node) -> None:
    node.gives(node.importer.types[node.name(0)])


@rule("Softmax", "LogSoftmax")
def softmax(node: Node) -> None:
    default = -1 if node.importer.opset >= 13 else 1
    axis, rank = node.attribute("axis", default), node.rank(0)
    if node.importer.opset < 13 or (axis >= 0 and rank is None):
        node.gives(node.importer.types[node.name(0)])
        return
    kind = "softmax" if node.proto.op_type == "Softmax" else "log_softmax"
    node.gives(node.call(kind, node.given(0), axis=axis))


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


@rule("Resize", "Upsample")
def resize(node: Node) -> None:
    from fractions import Fraction

    from axon.types import dim as dims

    word = node.shape(0)
    if word is None:
        node.gives(node.unknown(node.elem(0)))
        return
    axes = node.attribute("axes") or list(range(len(word)))
    at_scales = 1 if node.proto.op_type == "Upsample" or node.importer.opset == 10 else 2
    sizes = node.whole(3) if node.has(3) else None
    result: list[Any] = list(word)
    if node.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        for axis in axes:
            result[axis] = node.fresh_dim()
        node.gives(Tensor(node.elem(0), tuple(result)))
        return
    if node.has(3):
        for i, axis in enumerate(axes):
            found = node.contents(3)
            size = None if found is None else found.flat[i]
            result[axis] = node.fresh_dim() if size is None else size
        del sizes
        node.gives(Tensor(node.elem(0), tuple(result)))
        return
    scales = node.whole(at_scales) if node.has(at_scales) else node.attribute("scales")
    for i, axis in enumerate(axes):
        scale = scales[i] if scales else None
        if scale is None or not isinstance(scale, float | int):
            result[axis] = node.fresh_dim()
            continue
        exact = Fraction(scale).limit_denominator(1 << 20)
        result[axis] = (
            dims.floordiv(dims.scale(exact.numerator, word[axis]), exact.denominator)
            if abs(float(exact) - scale) < 1e-9
            else node.fresh_dim()
        )
    node.gives(Tensor(node.elem(0), tuple(result)))


@rule("Attention")
def attention(node: Node) -> None:
    q, v = node.shape(0), node.shape(2)
    if q is None or v is None:
        node.gives(node.unknown(node.elem(0)))
    elif len(q) == 4:
        node.gives(Tensor(node.elem(0), (*q[:3], v[3])))
    else:
        heads, kv = node.attribute("q_num_heads"), node.attribute("kv_num_heads")
        last = v[2]
        if heads != kv and isinstance(last, int) and heads and kv:
            last = last // kv * heads
        elif heads != kv:
            last = node.fresh_dim()
        node.gives(Tensor(node.elem(0), (*q[:2], last)))


@rule("LSTM", "GRU", "RNN")
def recurrent(node: Node) -> None:
    """From [seq,batch,input] to [seq,directions,batch,hidden]; the states have no seq."""
    word, filters = node.shape(0), node.shape(2)
    elem = node.elem(0)
    hidden = node.attribute("hidden_size")
    size = hidden or (filters[-1] if filters is not None else node.fresh_dim())
    count = 2 if node.attribute("direction", "forward") == "bidirectional" else 1
    if word is None:
        rest = node.unknown(elem, 3)
        from axon.inference.unify import unify
        from axon.solver.constraints import Origin

        x = node.importer.types[node.name(0)]
        unify(node.importer.state, rest, x, Origin("value", node.span, node.proto.op_type))
        word = node.importer.state.store.word(rest.shape)
    assert word is not None
    seq, batch = word[0], word[1]
    state: tuple[Any, ...] = (count, batch, size)
    whole: tuple[Any, ...] = (seq, count, batch, size)
    if node.attribute("layout", 0):
        seq, batch = word[1], word[0]
        state, whole = (batch, count, size), (batch, seq, count, size)
    node.gives(Tensor(elem, whole), *[Tensor(elem, state) for _ in node.outputs[1:]])


@rule("DepthToSpace", "SpaceToDepth")
def blocks(node: Node) -> None:
    from axon.types import dim as dims

    word, size = node.shape(0), node.attribute("blocksize", 1)
    if word is None or len(word) != 4:
        node.gives(node.unknown(node.elem(0), 4))
        return
    n, c, h, w = (size for size in word if not isinstance(size, ShapeVar))
    if node.proto.op_type == "DepthToSpace":
        made = (n, dims.floordiv(c, size * size), dims.scale(size, h), dims.scale(size, w))
    else:
        made = (n, dims.scale(size * size, c), dims.floordiv(h, size), dims.floordiv(w, size))
    node.gives(Tensor(node.elem(0), made))


@rule("GridSample")
def grid_sample(node: Node) -> None:
    x, grid = node.shape(0), node.shape(1)
    if x is None or grid is None:
        node.gives(node.unknown(node.elem(0), node.rank(0)))
        return
    node.gives(Tensor(node.elem(0), (x[0], x[1], *grid[1:-1])))


@rule("AffineGrid")
def affine_grid(node: Node) -> None:
    sizes = node.contents(1)
    if sizes is None:
        node.gives(node.unknown(node.elem(0)))
        return
    inner = [node.fresh_dim() if s is None else s for s in sizes]
    node.gives(Tensor(node.elem(0), (inner[0], *inner[2:], len(inner) - 2)))


@rule("RoiAlign")
def roi_align(node: Node) -> None:
    x, rois = node.shape(0), node.shape(1)
    if x is None or rois is None:
        node.gives(node.unknown(node.elem(0), 4))
        return
    size = (node.attribute("output_height", 1), node.attribute("output_width", 1))
    node.gives(Tensor(node.elem(0), (rois[0], x[1], *size)))


@rule("NonMaxSuppression")
def non_max_suppression(node: Node) -> None:
    node.gives(Tensor("i64", (node.fresh_dim(), 3)))


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
