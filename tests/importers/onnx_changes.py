"""Models made from onnx's node tests by one change of the shape of one input.

The changes of an input are: each dimension one larger, each dimension one smaller where it stays
at least 1, a leading dimension of 1 added, the leading dimension dropped. The added dimension is 1
and not 2 so that the elements stay the same and the change is one of rank alone.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy
import onnx
from onnx import numpy_helper

WEIGHT_RANK = 1
"""Integer inputs of this rank or less (shapes, axes, repeats) are put into the file."""


class Kind(StrEnum):
    UNCHANGED = "unchanged"
    LARGER = "one larger"
    SMALLER = "one smaller"
    ADDED = "a leading 1 added"
    DROPPED = "the leading dimension dropped"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of input `at` of a node test; `axis` counts for `LARGER` and `SMALLER` only."""

    case: Any
    operator: str
    at: int
    kind: Kind
    axis: int = 0

    @property
    def input(self) -> str:
        return str(self.case.model.graph.input[self.at].name)

    @property
    def key(self) -> str:
        where = f"dimension {self.axis} " if self.kind in (Kind.LARGER, Kind.SMALLER) else ""
        return f"{self.case.name}, {self.input}: {where}{self.kind}"

    @property
    def unchanged(self) -> Change:
        return Change(self.case, self.operator, self.at, Kind.UNCHANGED)


@dataclass(frozen=True, slots=True)
class Made:
    """A model and what it is run with: `feeds` are by name, in the order of its inputs."""

    model: Any
    feeds: dict[str, Any]

    def shapes(self) -> str:
        """The inputs, those in the file with their contents."""
        texts = [f"{n} {getattr(v, 'shape', '(no tensor)')}" for n, v in self.feeds.items()]
        for tensor in self.model.graph.initializer:
            texts.append(f"{tensor.name} = {numpy_helper.to_array(tensor).tolist()}")
        return ", ".join(texts)

    def filled(self, first: int, rest: int) -> dict[str, Any]:
        """The feeds with other integers, to see whether a refusal is about the contents."""
        found = dict(self.feeds)
        for name, value in self.feeds.items():
            if isinstance(value, numpy.ndarray) and value.dtype.kind in "iu":
                found[name] = numpy.full_like(value, rest)
                found[name].reshape(-1)[:1] = numpy.array(first).astype(value.dtype)
        return found

    def has_integers(self) -> bool:
        values = self.feeds.values()
        return any(isinstance(v, numpy.ndarray) and v.dtype.kind in "iu" for v in values)


def changes(only: list[str] | None = None) -> list[Change]:
    """Every change of every node test, equal models once; `only` has names of operators.

    The unchanged model is there once for each input, since the input that is changed is never put
    into the file. The operator of a test in which the onnx package wrote it out as other nodes is
    marked as expanded.
    """
    found, seen = [], set()
    for change in every():
        if only and change.operator.split()[0] not in only:
            continue
        digest = _digest(make(change))
        if digest not in seen or change.kind is Kind.UNCHANGED:
            seen.add(digest)
            found.append(change)
    return found


def every() -> Iterator[Change]:
    """Every change of every node test."""
    numpy.random.seed(0)
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        cases = [c for c in collect_testcases() if c.model is not None and c.data_sets]
    named = operators(cases)
    for case in cases:
        operator = named[case.name] + (" (expanded)" if "_expanded" in case.name else "")
        for at, info in enumerate(case.model.graph.input):
            value = array(case.data_sets[0][0][at])
            if value is None or not info.type.HasField("tensor_type"):
                continue
            if len(info.type.tensor_type.shape.dim) != value.ndim:
                continue
            yield Change(case, operator, at, Kind.UNCHANGED)
            for axis, size in enumerate(value.shape):
                yield Change(case, operator, at, Kind.LARGER, axis)
                if size > 1:
                    yield Change(case, operator, at, Kind.SMALLER, axis)
            yield Change(case, operator, at, Kind.ADDED)
            if value.ndim:
                yield Change(case, operator, at, Kind.DROPPED)


def make(change: Change) -> Made:
    """The changed model, without any declared shape but those of its inputs."""
    model = bare(copied(change.case.model))
    feeds: dict[str, Any] = {}
    inputs = list(model.graph.input)
    del model.graph.input[:]
    for at, (info, given) in enumerate(zip(inputs, change.case.data_sets[0][0], strict=True)):
        value = array(given)
        if at == change.at:
            value = _resized(value, change)
            _declare(info.type.tensor_type.shape, change, value.shape)
        elif value is not None and value.dtype.kind in "iu" and value.ndim <= WEIGHT_RANK:
            model.graph.initializer.append(numpy_helper.from_array(value, info.name))
            continue
        model.graph.input.append(info)
        feeds[info.name] = given if value is None else value
    return Made(model, feeds)


def _resized(value: Any, change: Change) -> Any:
    """The recorded values, cut or with the last of them again, so that indices remain indices."""
    match change.kind:
        case Kind.UNCHANGED:
            return value
        case Kind.ADDED:
            return value[numpy.newaxis]
        case Kind.DROPPED:
            first = value[0] if len(value) else numpy.zeros(value.shape[1:], value.dtype)
            return numpy.asarray(first, value.dtype)  # not a bare number or text
        case Kind.LARGER | Kind.SMALLER:
            size = value.shape[change.axis]
            if not size:
                shape = (*value.shape[: change.axis], 1, *value.shape[change.axis + 1 :])
                return numpy.zeros(shape, value.dtype)
            wanted = numpy.arange(size + (1 if change.kind is Kind.LARGER else -1))
            return value.take(wanted.clip(max=size - 1), change.axis)


def _declare(shape: Any, change: Change, sizes: tuple[int, ...]) -> None:
    """Change the declared shape alike; what it says of the other dimensions stays."""
    match change.kind:
        case Kind.UNCHANGED:
            pass
        case Kind.ADDED:
            dims = list(shape.dim)
            del shape.dim[:]
            shape.dim.add().dim_value = 1
            shape.dim.extend(dims)
        case Kind.DROPPED:
            del shape.dim[0]
        case Kind.LARGER | Kind.SMALLER:
            shape.dim[change.axis].dim_value = sizes[change.axis]


def _digest(made: Made) -> bytes:
    """Equal for models that differ in names of tests and in floating-point data only."""
    model = onnx.ModelProto()
    model.CopyFrom(made.model)
    model.graph.name = ""
    digest = hashlib.sha256(model.SerializeToString(deterministic=True))
    for value in made.feeds.values():
        if isinstance(value, numpy.ndarray) and value.dtype.kind in "iub":
            digest.update(value.tobytes())
    return digest.digest()


# --- node tests ------------------------------------------------------------------------------


def operators(cases: list[Any]) -> dict[str, str]:
    """The operator that each case is there for, by the case's name."""
    direct = {c.name: c.model.graph.node[0].op_type for c in cases if "_expanded" not in c.name}
    found = {}
    for case in cases:
        base = re.sub(r"_expanded.*", "", case.name)
        found[case.name] = direct.get(base) or direct.get(case.name) or "?"
    return found


def array(value: Any) -> Any:
    """A recorded value as an array, or None if it is no tensor."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, numpy.ndarray | numpy.generic):
        return numpy.asarray(value)
    return None


def copied(model: Any) -> Any:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def bare(model: Any) -> Any:
    """The model without any shape that it declares, but for the dims of its inputs."""
    _forget(model.graph, is_main=True)
    for function in model.functions:
        del function.value_info[:]
    return model


def _forget(graph: Any, is_main: bool) -> None:
    del graph.value_info[:]
    for info in [*graph.output, *(() if is_main else graph.input)]:
        _forget_type(info.type)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _forget(attribute.g, is_main=False)
            for inner in attribute.graphs:
                _forget(inner, is_main=False)


def _forget_type(type_: Any) -> None:
    kind = type_.WhichOneof("value")
    if kind in ("sequence_type", "optional_type"):
        _forget_type(getattr(type_, kind).elem_type)
    elif kind in ("tensor_type", "sparse_tensor_type"):
        getattr(type_, kind).ClearField("shape")
