"""Reading a model, whatever is in the file: a clear sentence for what is no model."""

from __future__ import annotations

import os
from typing import Any

from axon.importers.onnx.wire import WireError, WireMessage
from axon.importers.operations import NoModel

LARGEST_FILE = 2 << 30
DEEPEST = 16
ELSEWHERE = frozenset({"metadata_props", "t", "tensors", "sparse_initializer", "training_info"})
"""Parts of a model in which no name is looked at."""


def read_model(path: str) -> Any:
    """The model in a file, without the data that it keeps elsewhere."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        if not os.path.isfile(path):
            raise NoModel(f"there is no file {path}")
        if os.path.getsize(path) > LARGEST_FILE:
            raise NoModel(f"{path} is larger than 2 GB, which no ONNX file can be")
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise NoModel(f"{path} cannot be read: {problem.strerror or problem}") from None
    if data[:2] == b"PK":
        raise NoModel(f"{path} is a zip file, not an ONNX model")
    try:
        model = onnx.load_model_from_string(data)
    except (DecodeError, ValueError, RuntimeError, MemoryError):
        raise NoModel(f"{path} is not an ONNX model") from None
    return checked(model, path)


def read_bytes(data: bytes, name: str) -> Any:
    """The model in a file's bytes, without native code; see `wire.py`."""
    model = WireMessage("Model", memoryview(data))
    try:
        model.read_all()
        return checked(model, name)
    except WireError:
        raise NoModel(f"{name} is not an ONNX model") from None


def checked(model: Any, path: str) -> Any:
    """The model, if its graph can be walked: it has one, and is not nested without end."""
    if not model.HasField("graph") or not (model.graph.node or model.graph.output):
        raise NoModel(f"{path} is not an ONNX model: it has no graph")
    _check_depth(model.graph, path, 0)
    if not isinstance(model, WireMessage) and not _is_text(model):
        raise NoModel(f"{path} is not an ONNX model: a name in it is not UTF-8")
    if not all(value.name for value in (*model.graph.input, *model.graph.output)):
        raise NoModel(f"{path} is not an ONNX model: an input or output has no name")
    return model


def _is_text(message: Any) -> bool:
    """Whether all its names are text; protobuf gives those that are not as bytes."""
    from google.protobuf.message import Message

    for field, value in message.ListFields():
        every: Any = (value,) if isinstance(value, str | bytes | Message) else value
        if field.name == "initializer":  # its data may be large
            fine = all(isinstance(item.name, str) for item in every)
        elif field.type == field.TYPE_STRING:
            fine = all(isinstance(item, str) for item in every)
        elif field.type == field.TYPE_MESSAGE and field.name not in ELSEWHERE:
            fine = all(_is_text(item) for item in every)
        else:
            continue
        if not fine:
            return False
    return True


def _check_depth(graph: Any, path: str, depth: int) -> None:
    if depth > DEEPEST:
        raise NoModel(f"{path}: graphs are nested more than {DEEPEST} deep")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _check_depth(attribute.g, path, depth + 1)
            for inner in attribute.graphs:
                _check_depth(inner, path, depth + 1)
