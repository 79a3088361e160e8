"""Random ONNX models that run, grown node by node.

Each node is tried on inputs of several sizes by ONNX's own reference, and kept if it runs on all
of them. LayerRun of nodes come again, sometimes with a small difference.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPSET = 18
F32, I64, BOOL = numpy.dtype("float32"), numpy.dtype("int64"), numpy.dtype("bool")
ELEMENTS = {F32: TensorProto.FLOAT, I64: TensorProto.INT64, BOOL: TensorProto.BOOL}
SIZES = ({"n": 2, "m": 3, "k": 4}, {"n": 1, "m": 5, "k": 2}, {"n": 4, "m": 1, "k": 3})
NAMES = (
    "fn", "shape", "f32", "where", "x y", "ü", 'q"uo', "blocks.0.relu", "blocks.1.relu", "op",
    "model.0.x", "model.1.x", "a/b/1", "a/b/2", "size 3", "onnx::Add_12", "layer_1", "layer",
    "v_1", "true", "inf", "relu", "dim", "nonzero_1", "1.5", "new\nline", "layers.0.fn",
    "layers.1.fn", "model",
)  # fmt: skip
"""Names that a program cannot have, or has for something else."""

UNARY = ("Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Floor", "Identity", "Sign", "LeakyRelu")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")
REDUCE = ("ReduceSum", "ReduceMean", "ReduceMax")

Action = tuple[str, list[str], dict[str, Any], list[str]]


@dataclass
class Growing:
    """A model in the making: what its tensors are at each of the sizes, by their names."""

    seed: int
    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, Any] = field(default_factory=dict)
    values: dict[str, list[Any]] = field(default_factory=dict)
    inputs: dict[str, list[int | str]] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.arrays = numpy.random.RandomState(self.seed)
        for _ in range(self.random.randint(1, 2)):
            rank = self.random.choice((1, 2, 2, 3, 4))
            shape = [self.random.choice(("n", "m", "k", 2, 3, 1)) for _ in range(rank)]
            name = self.name()
            self.inputs[name] = shape
            self.values[name] = [
                self.array([n if isinstance(n, int) else at[n] for n in shape], F32) for at in SIZES
            ]

    # --- tensors ---

    def array(self, shape: Sequence[Any], dtype: Any) -> Any:
        if dtype == I64:
            return self.arrays.randint(-3, 5, shape)
        if dtype == BOOL:
            return self.arrays.rand(*shape) > 0.5
        return numpy.round(self.arrays.randn(*shape), 2).astype(dtype)

    def name(self) -> str:
        plain = f"t{len(self.values)}"
        name = self.random.choice((plain, plain, f"/blocks.{len(self.values)}/h", *NAMES[:3]))
        if self.random.random() < 0.2:
            name = self.random.choice(NAMES)
        return plain if name in self.values else name

    def weight(self, array: Any) -> str:
        array, name = numpy.asarray(array), self.name()
        if self.random.random() < 0.25:
            held = numpy_helper.from_array(array, "")
            self.nodes.append(helper.make_node("Constant", [], [name], value=held))
        self.weights[name] = array
        self.values[name] = [array] * len(SIZES)
        return name

    def ints(self, *items: int) -> str:
        return self.weight(numpy.array(items, I64))

    def pick(self, *dtypes: Any, rank: int = 0) -> str:
        """A tensor that a node made, or an input; the later ones rather than the first."""
        found = [
            name
            for name, (first, *_) in self.values.items()
            if name not in self.weights and first.dtype in dtypes and first.ndim >= rank
        ]
        return max(self.random.choices(found, k=2), key=found.index)

    def axis(self, name: str, more: int = 0) -> int:
        rank = self.values[name][0].ndim + more
        return self.random.randrange(-rank, rank)

    # --- nodes ---

    def add(self, op: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> list[str]:
        """A node more, if it runs; the names of its outputs."""
        made = self._tried(op, inputs, outputs, attributes)
        if made is None:
            return []
        names: list[str] = []
        for i in range(outputs):
            name = self.name()
            self.values[name] = [at[i] for at in made]
            names.append(name)
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        self.actions.append((op, inputs, attributes, names))
        return names

    def _tried(self, op: str, inputs: list[str], outputs: int, attributes: Any) -> Any:
        if not sane(op, [self.values[name] for name in inputs if name], attributes):
            return None
        given = dict.fromkeys(name for name in inputs if name)
        made = [f"out{i}" for i in range(outputs)]
        infos = [
            helper.make_tensor_value_info(name, ELEMENTS[self.values[name][0].dtype], None)
            for name in given
        ]
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in made]
        node = helper.make_node(op, inputs, made, **attributes)
        opset = [helper.make_opsetid("", OPSET)]
        graph = helper.make_graph([node], "g", infos, ends)
        runs = ReferenceEvaluator(helper.make_model(graph, opset_imports=opset))
        found = []
        try:
            with warnings.catch_warnings(), numpy.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                for at in range(len(SIZES)):
                    ran = runs.run(None, {name: self.values[name][at] for name in given})
                    found.append([numpy.asarray(each) for each in ran])
        except Exception:  # the reference says in many ways that something does not fit
            return None
        for parts in found:
            for part, first in zip(parts, found[0], strict=True):
                if part.size > 400 or part.ndim > 5 or part.dtype not in ELEMENTS:
                    return None
                if part.ndim != first.ndim:
                    return None
        return found

    def again(self) -> None:
        """Some nodes once more, on what the last of them gave; sometimes a little different."""
        length = self.random.randint(2, min(6, len(self.actions)))
        start = self.random.randint(0, len(self.actions) - length)
        block = self.actions[start : start + length]
        for _ in range(self.random.randint(1, 4)):
            block = self._copied(block) or block

    def _copied(self, block: list[Action]) -> list[Action]:
        renamed: dict[str, str] = {}
        first, last, made = next(iter(block[0][1])), block[-1][3][0], len(self.actions)
        if self.values[first][0].dtype == self.values[last][0].dtype:
            renamed[first] = last
        for op, inputs, attributes, outputs in block:
            given = [renamed.get(name, name) for name in inputs]
            for i, name in enumerate(given):
                if name in self.weights and self.random.random() < 0.2:
                    array = self.weights[name]
                    given[i] = self.weight(self.array(array.shape, array.dtype))
            if op in BINARY and self.random.random() < 0.2:
                given = self.random.choice((given[::-1], [given[0], given[0]]))
            new = self.add(op, given, len(outputs), **attributes)
            renamed.update(zip(outputs, new or outputs, strict=True))
        return self.actions[made:]

    # --- the whole ---

    def outputs(self) -> list[str]:
        used = {name for node in self.nodes for name in node.input}
        made = [name for _, _, _, names in self.actions for name in names]
        return [name for name in made if name not in used] or made[-1:]

    def model(self) -> Any:
        infos = {
            name: helper.make_tensor_value_info(name, ELEMENTS[self.values[name][0].dtype], shape)
            for name, shape in [*self.inputs.items(), *((name, None) for name in self.outputs())]
        }
        constants = {n.output[0] for n in self.nodes if n.op_type == "Constant"}
        weights = [
            numpy_helper.from_array(array, name)
            for name, array in self.weights.items()
            if name not in constants
        ]
        ends = [infos[name] for name in self.outputs()]
        graph = helper.make_graph(self.nodes, "g", [infos[n] for n in self.inputs], ends, weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])


def sane(op: str, given: list[list[Any]], attributes: dict[str, Any]) -> bool:
    """Whether what the reference would take is also what ONNX says."""
    axis = attributes.get("axis", 0)
    if op in ("Split", "TopK", "Gather") and not -given[0][0].ndim <= axis < given[0][0].ndim:
        return False
    match op:
        case "Reshape":
            return all((sizes >= -1).all() for sizes in given[1])
        case "Expand" | "ConstantOfShape":
            return all((sizes >= 0).all() for sizes in given[-1])
        case "Tile":
            return all((r >= 0).all() and len(r) == x.ndim for x, r in zip(*given, strict=True))
        case "Split":
            return all(
                (s >= 0).all() and s.sum() == x.shape[axis] for x, s in zip(*given, strict=True)
            )
        case "TopK":
            return all(1 <= k[0] <= x.shape[axis] for x, k in zip(*given, strict=True))
        case "Cast":
            return all(numpy.isfinite(x).all() for x in given[0])
        case _:
            return op not in BINARY or given[0][0].dtype == given[1][0].dtype


def sizes(it: Growing) -> str:
    """A shape that is computed."""
    x = it.pick(F32, rank=1)
    (shape,) = it.add("Shape", [x])
    parts = []
    for _ in range(it.random.randint(1, 3)):
        parts += it.add("Gather", [shape, it.ints(it.axis(x))], axis=0)
    if it.random.random() < 0.5:
        parts.append(it.ints(it.random.choice((1, 2))))
    return it.add("Concat", parts, axis=0)[0]


def grow(it: Growing) -> None:
    """One node more, or a few that belong together."""
    choose = it.random.choice
    x = it.pick(F32)
    y = it.pick(F32, rank=1) if it.values[x][0].ndim == 0 else x
    if it.values[y][0].ndim == 0:
        return
    axis, rank = it.axis(y), it.values[y][0].ndim
    match choose(OPERATORS):
        case "unary":
            it.add(choose(UNARY), [x])
        case "binary":
            it.add(choose(BINARY), choose(([x, it.pick(F32)], [x, x], [it.pick(F32), x])))
        case "number":
            shape = choose(((), (1,), (3,)))
            it.add(choose(BINARY), [x, it.weight(it.array(shape, F32))])
        case "compare":
            it.add(choose(("Less", "Greater", "Equal")), [x, it.pick(F32)])
        case "where" if any(v[0].dtype == BOOL for v in it.values.values()):
            it.add("Where", [it.pick(BOOL), x, it.pick(F32)])
        case "cast":
            it.add("Cast", [it.pick(F32, I64)], to=choose((TensorProto.FLOAT, TensorProto.INT64)))
        case "gather":
            indices = choose((0, -1, [0], [0, 0], [[0, -1]]))
            it.add("Gather", [y, it.weight(numpy.array(indices, I64))], axis=axis)
        case "concat":
            it.add("Concat", choose(([y, y], [y, it.pick(F32, rank=1)])), axis=axis)
        case "reshape":
            it.add("Reshape", [x, it.ints(*choose(((-1,), (0, -1), (-1, 1), (2, -1), (0, 0, -1))))])
        case "reshape to sizes":
            (wanted,) = it.add("Concat", [sizes(it), it.ints(-1)], axis=0)
            it.add("Reshape", [x, wanted])
        case "slice":
            start, stop = it.ints(choose((0, 1, -1, -2))), it.ints(choose((1, 2, -1, 1 << 62)))
            step = choose(([], [it.ints(choose((1, 2, -1)))]))
            it.add("Slice", [y, start, stop, it.ints(axis), *step])
        case "expand":
            it.add("Expand", [x, choose((sizes(it), it.ints(2, 1)))])
        case "filled":
            it.add("ConstantOfShape", [sizes(it)])
        case "range":
            zero, one = it.weight(numpy.array(0, I64)), it.weight(numpy.array(1, I64))
            last = it.add("Gather", [sizes(it), zero], axis=0)
            it.add("Range", [zero, *last, one])
        case "tile":
            it.add("Tile", [y, it.ints(*(choose((1, 2)) for _ in range(rank)))])
        case "split" if len({v.shape[axis] for v in it.values[y]}) == 1:
            first = it.random.randint(0, it.values[y][0].shape[axis])
            cut = it.ints(first, it.values[y][0].shape[axis] - first)
            it.add("Split", [y, cut], 2, axis=axis)
        case "pad":
            it.add("Pad", [y, it.ints(*(choose((0, 1)) for _ in range(2 * rank)))])
        case "best":
            it.add("TopK", [y, it.ints(1)], 2, axis=axis)
        case "nonzero":
            it.add("NonZero", [y])
        case "unique":
            it.add("Unique", [y])
        case "transpose":
            it.add("Transpose", [y], perm=it.random.sample(range(rank), rank))
        case "matmul":
            width = it.values[y][0].shape[-1]
            it.add("MatMul", [y, choose((y, it.weight(it.array((width, 3), F32))))])
        case "reduce":
            axes = choose(([], [it.ints(axis)]))
            it.add(choose(REDUCE), [y, *axes], keepdims=choose((0, 1)))
        case "softmax":
            it.add("Softmax", [y], axis=axis)
        case "squeeze":
            it.add("Squeeze", [y, it.ints(axis)])
        case "unsqueeze":
            it.add("Unsqueeze", [x, it.ints(it.axis(x, 1))])
        case "clip":
            low, high = (it.weight(numpy.array(b, F32)) for b in (-0.5, 0.5))
            it.add("Clip", [x, *choose(([low, high], ["", high], [low]))])
        case "again" if len(it.actions) > 2:
            it.again()
        case _:
            pass


OPERATORS = (
    "unary", "unary", "binary", "binary", "number", "compare", "where", "cast", "gather", "concat",
    "reshape", "reshape to sizes", "slice", "expand", "filled", "range", "tile", "split", "pad",
    "best", "nonzero", "unique", "transpose", "matmul", "reduce", "softmax", "squeeze", "unsqueeze",
    "clip", "again", "again", "again", "again",
)  # fmt: skip


def grown(seed: int) -> Growing:
    """A model of some ten or twenty nodes."""
    it = Growing(seed)
    wanted = it.random.randint(6, 24)
    for _ in range(3 * wanted):
        if len(it.actions) < wanted:
            grow(it)
    return it
