"""Whether `infer` and the program that `import` writes agree on a model.

Both refuse it, or both take it and its outputs have the same types: the same element types and
ranks, and the same numbers for sizes. What the program leaves to the run is not compared: where
`infer` has a number for it, or refuses the model, the run checks it. Nor are outputs that are no
tensors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from axon.driver import check_text
from axon.importers.opened import as_tensor
from axon.importers.writing.program import write_program
from axon.types.type import Fn, Tensor, Tuple, Type
from axon.types.variables import ShapeVar
from tests.importers.onnx_models import import_model, infer_model

Told = tuple[str | None, tuple[int | None, ...] | None]
"""An element type, and the sizes; None is what is not known."""


class Verdict(NamedTuple):
    """What is wrong with a model, or the types of its outputs; `checks` are left to the run."""

    problem: str
    types: tuple[Told, ...]
    checks: bool = False

    def __str__(self) -> str:
        return self.problem or ", ".join(f"{elem} {sizes}" for elem, sizes in self.types)


def inferred(model: Any) -> Verdict:
    report = infer_model(model, "model")
    errors = [d.message for d in report.diagnostics if d.severity == "error"]
    found = [report.tensors.get(each.name) for each in model.graph.output]
    types = [(None, None) if each is None else (each.dtype, _sizes(each.shape)) for each in found]
    return Verdict(errors[0] if errors else "", () if errors else tuple(types))


def written(model: Any) -> Verdict:
    """What the checker says of the program."""
    checked = check_text(write_program(import_model(model, "model")).text)
    errors = [d.message for d in checked.diagnostics if d.severity == "error"]
    definition = checked.find("model")
    if errors or definition is None:
        return Verdict(errors[0] if errors else "there is no program", ())
    type_ = definition.scheme.type
    result = type_.result if isinstance(type_, Fn) else type_
    parts = result.items if isinstance(result, Tuple) else (result,)
    return Verdict("", tuple(_told(part) for part in parts), bool(definition.guards))


def disagreement(model: Any) -> str:
    """In what way the two differ, or nothing."""
    one, other = inferred(model), written(model)
    if one.problem and other.checks:
        return ""
    if bool(one.problem) == bool(other.problem):
        tensors = all(each.type.HasField("tensor_type") for each in model.graph.output)
        if not tensors or _fit(one.types, other.types):
            return ""
    return f"infer: {one}; the program: {other}"


def _fit(types: tuple[Told, ...], others: tuple[Told, ...]) -> bool:
    return len(types) == len(others) and all(map(_fits, types, others))


def _fits(one: Told, other: Told) -> bool:
    """Whether all that the second says is in the first."""
    (elem, sizes), (other_elem, other_sizes) = one, other
    if other_elem not in (None, elem) or (sizes is None) > (other_sizes is None):
        return False
    if sizes is None or other_sizes is None:
        return True
    pairs = list(zip(sizes, other_sizes, strict=False))
    return len(sizes) == len(other_sizes) and all(b in (None, a) for a, b in pairs)


def _told(type_: Type) -> Told:
    type_ = as_tensor(type_)
    if not isinstance(type_, Tensor):
        return None, None
    elem = type_.elem if isinstance(type_.elem, str) else None
    is_ranked = not any(isinstance(size, ShapeVar) for size in type_.shape)
    return elem, _sizes(type_.shape) if is_ranked else None


def _sizes(shape: tuple[Any, ...] | None) -> tuple[int | None, ...] | None:
    return (
        None if shape is None else tuple(size if isinstance(size, int) else None for size in shape)
    )
