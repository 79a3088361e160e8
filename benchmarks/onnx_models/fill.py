"""Values for a model that has none: random weights and inputs, the same whoever asks.

The weights that a model of the corpus keeps in another file are all zeros there; a model without
any of those may have nodes that fill its weights with one number. They get values for which what
the layers make stays near 1, and so do inputs; whole numbers that index a table are below its size.
"""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from onnx import TensorProto, helper, numpy_helper

WEIGHTS = "weights.bin"
SCALES = {"BatchNormalization", "LayerNormalization", "InstanceNormalization", "GroupNormalization"}
POSITIVE = {("BatchNormalization", 4), ("Div", 1), ("Sqrt", 0), ("Log", 0), ("Reciprocal", 0)}
PASSES = {
    "Cast", "Concat", "Expand", "Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze",
    "Tile", "Transpose", "Unsqueeze", "Where",
}  # fmt: skip
INDEXES = {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"}
SEVERAL = {"GatherND", "ScatterND"}
ELSEWHERE = 3
"""Whole numbers that index nothing that is known are below it."""
LARGEST = 1 << 24
"""The weights with more elements stay what they are."""


def random(seed: int, name: str) -> numpy.random.Generator:
    """What a tensor gets depends on its name alone, not on what else is in the model."""
    return numpy.random.default_rng([seed, zlib.crc32(name.encode())])


def nodes(graph: Any) -> Iterator[Any]:
    """The nodes of a graph and of the graphs in it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes(attribute.g)
            for inner in attribute.graphs:
                yield from nodes(inner)


def fill(model: Any, folder: Path, name: str, seed: int = 0, positive: bool = False) -> Path:
    """Write a copy of the model into a folder, with values for its weights."""
    uses: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for node in nodes(model.graph):
        for i, given in enumerate(node.input):
            uses[given].add((node.op_type, i))
    if not any(_is_elsewhere(tensor) for tensor in model.graph.initializer):
        _move(model.graph)
    with open(folder / WEIGHTS, "wb") as file:
        for tensor in model.graph.initializer:
            if not _is_elsewhere(tensor):
                continue
            values = weight(tensor, uses[tensor.name], seed)
            data = (numpy.abs(values) if positive else values).tobytes()
            entries = {"location": WEIGHTS, "offset": file.tell(), "length": len(data)}
            del tensor.external_data[:]
            for key, value in entries.items():
                tensor.external_data.add(key=key, value=str(value))
            file.write(data)
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def _is_elsewhere(tensor: Any) -> bool:
    return bool(tensor.data_location == TensorProto.EXTERNAL)


def _move(graph: Any) -> None:
    """Turn the nodes that make floats of a size that is written down into weights elsewhere."""
    sizes = {tensor.name: tensor for tensor in graph.initializer}
    kept = []
    for node in graph.node:
        shape = sizes.get(node.input[0]) if node.op_type == "ConstantOfShape" else None
        kind = node.attribute[0].t.data_type if node.attribute else TensorProto.FLOAT
        dims = [] if shape is None else numpy_helper.to_array(shape).tolist()
        if shape is None or kind != TensorProto.FLOAT or math.prod(dims) > LARGEST:
            kept.append(node)
            continue
        graph.initializer.add(
            name=node.output[0], data_type=kind, dims=dims, data_location=TensorProto.EXTERNAL
        )
    del graph.node[:]
    graph.node.extend(kept)


def weight(tensor: Any, uses: set[tuple[str, int]], seed: int) -> Any:
    shape = tuple(tensor.dims)
    dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    generator = random(seed, tensor.name)
    values = generator.normal(size=shape)
    if dtype.kind in "iu":
        middle = 0 if dtype.kind == "i" else 128
        return numpy.clip(middle + 40 * values, middle - 127, middle + 127).astype(dtype)
    if uses & POSITIVE:
        values = generator.uniform(0.5, 1.5, size=shape)
    elif any(op in SCALES and i == 1 for op, i in uses) or (len(shape) < 2 and "Mul" in dict(uses)):
        values = 1 + 0.1 * values
    elif len(shape) < 2:
        values = 0.1 * values
    elif len(shape) == 2:
        values = values / math.sqrt(max(1, min(shape)))
    else:
        values = values * math.sqrt(2 / max(1, math.prod(shape[1:])))
    return values.astype(dtype)


def inputs(model: Any, truth: dict[str, Any], run: int, bound: int, seed: int = 0) -> list[Any]:
    """Arrays for the inputs of a model, with the shapes that are recorded of a run."""
    given = {tensor.name for tensor in model.graph.initializer}
    return [
        _input(model, truth, run, info, bound, random(seed, info.name))
        for info in model.graph.input
        if info.name not in given
    ]


def _input(model: Any, truth: Any, run: int, info: Any, bound: int, generator: Any) -> Any:
    shape = truth["inputs"][run][info.name]
    dtype = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    if "mask" in info.name:
        return numpy.ones(shape, dtype)
    if dtype.kind == "b":
        return generator.uniform(size=shape) < 0.75
    if dtype.kind in "iu":
        below = min(bound, smallest_table(model, truth, run, info.name))
        return generator.integers(0, max(1, below), size=shape).astype(dtype)
    return generator.normal(size=shape).astype(dtype)


def smallest_table(model: Any, truth: dict[str, Any], run: int, name: str) -> int:
    """The size of the smallest axis that the values of an input may index."""
    shapes = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    shapes |= truth["inputs"][run]
    shapes |= {each: of[run] for each, of in truth["shapes"].items() if of[run] is not None}
    reached, sizes = {name}, []
    for node in model.graph.node:
        if node.op_type in INDEXES and node.input[1] in reached and node.input[0] in shapes:
            shape = shapes[node.input[0]]
            axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
            sizes += shape if node.op_type in SEVERAL else [shape[axis]]
        passed = node.input if node.op_type in PASSES else node.input[:1]
        if node.op_type in PASSES | {"Gather"} and reached & set(passed):
            reached.update(node.output)
    return min(sizes, default=ELSEWHERE)
