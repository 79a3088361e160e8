"""The values of weights, read when they are asked for, and from the model's own folder alone."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy

from axon.importers.onnx.read import MALFORMED, of_shape
from axon.importers.operations import Constant, NoModel
from axon.importers.plain_array import PlainArray

OFFSET = re.compile(r"\d{1,20}", re.ASCII)
IN_A_FILE = 1
"""The data of a tensor is not in the model, but in a file beside it."""


def weight(constant: Constant, folder: str | None) -> Callable[[], Any]:
    """A function that gives the values of a weight, read the first time that it is called."""
    known: list[Any] = []

    def values() -> Any:
        if not known:
            known.append(read_weight(constant, folder))
        return known[0]

    return values


def described(constant: Constant) -> tuple[str, tuple[int, ...]] | None:
    """The element type and the sizes of a weight; None if its elements are not Axon's."""
    if constant.elem is None:
        return None
    if not isinstance(constant.source, PlainArray):
        _check_sizes(constant.source)
    return constant.elem, constant.dims


def data_files(model: Any, folder: str) -> Iterator[str]:
    """The files beside a model in which it keeps its weights."""
    for tensor in model.graph.initializer:
        if tensor.data_location == IN_A_FILE:
            for entry in tensor.external_data:
                if entry.key == "location" and "\0" not in entry.value:
                    yield os.path.join(folder, entry.value)


def read_weight(constant: Constant, folder: str | None) -> Any:
    """The values of a weight. They are read again each time."""
    import onnx.helper
    import onnx.numpy_helper

    tensor = constant.source
    if isinstance(tensor, PlainArray):  # that an operation lists
        listed = numpy.frombuffer(tensor.tobytes(), "<i8" if constant.elem == "i64" else "<f4")
        return listed.reshape(tensor.shape)
    if tensor.data_location != IN_A_FILE:
        try:
            return numpy.asarray(onnx.numpy_helper.to_array(tensor))
        except MALFORMED as problem:
            raise NoModel(f"the weight `{tensor.name}` cannot be read: {problem}") from None
    entries = {entry.key: entry.value for entry in tensor.external_data}
    _check_sizes(tensor)
    sizes = constant.dims
    path = _path_in(entries.get("location", ""), folder, tensor.name)
    try:
        dtype = numpy.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except KeyError:
        raise NoModel(f"the weight `{tensor.name}` has an unknown element type") from None
    offset = entries.get("offset") or "0"
    if not OFFSET.fullmatch(offset):
        raise NoModel(f"the weight `{tensor.name}` has the offset `{offset[:40]}`: no number")
    start, wanted = int(offset), prod(sizes) * dtype.itemsize
    try:
        if os.path.getsize(path) < start + wanted:
            raise NoModel(f"the data of `{tensor.name}` is not all in {os.path.basename(path)}")
        with open(path, "rb") as file:
            file.seek(start)
            data = file.read(wanted)
    except OSError as problem:
        raise NoModel(f"the weight `{tensor.name}` cannot be read: {problem}") from None
    if len(data) != wanted:
        raise NoModel(f"the data of `{tensor.name}` is not all in {os.path.basename(path)}")
    found = of_shape(numpy.frombuffer(data, dtype.newbyteorder("<")), sizes)
    if found is None:
        raise NoModel(f"the weight `{tensor.name}` has sizes that no array has")
    return found


def _check_sizes(tensor: Any) -> None:
    if any(size < 0 for size in tensor.dims):
        raise NoModel(f"the weight `{tensor.name}` has a negative size")


def _path_in(location: str, folder: str | None, name: str) -> str:
    """The path of a data file, which must be a plain file in the folder of the model."""
    if folder is None:
        raise NoModel(f"the data of `{name}` is in a file, but the model is in none")
    strange = not location or "\0" in location or os.path.isabs(location)
    if strange or ".." in location.replace("\\", "/").split("/"):
        raise NoModel(f"the data of `{name}` would be outside the folder of the model: refused")
    path = os.path.join(folder, location)
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        raise NoModel(f"the data of `{name}` should be in {location}, which is not there") from None
    root, real = os.path.realpath(folder), os.path.realpath(path)
    if (
        not stat.S_ISREG(found.st_mode)
        or found.st_nlink > 1
        or os.path.commonpath([root, real]) != root
    ):
        raise NoModel(f"the data of `{name}` is in {location}, which is no plain file: refused")
    return path
