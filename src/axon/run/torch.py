"""Running PyTorch programs. PyTorch is needed, and imported, for what is not in a file alone."""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from axon.importers.formats import ModelFile, read_archive
from axon.importers.operations import NoModel
from axon.run.errors import ProgramError
from axon.run.models import ModelProgram

if TYPE_CHECKING:
    from axon.importers.torch.dynamic.table import Dynamic

LONGEST_REASON = 2000


def from_torch(model: Any, *inputs: Any, backend: str = "numpy", **named: Any) -> ModelProgram:
    """A program from what PyTorch exports: a `.pt2` file, for which PyTorch need not be there, an
    `ExportedProgram`, or an `nn.Module` with example inputs, which is exported with all sizes left
    open (`Dim.AUTO`, non-strict). It has one definition, `model`, and a `report`.

    What no operator of Axon does is only declared; say what it does with `implement`.
    """
    try:
        found = _read(model, inputs, named)
        return ModelProgram(found.model, backend, found.investigate)
    except NoModel as problem:
        raise ProgramError(str(problem)) from None


class _Read(NamedTuple):
    """A program, and how to see what could be dynamic in it if more than its archive is there."""

    model: ModelFile
    investigate: Callable[[], Dynamic] | None = None


def _read(model: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> _Read:
    if isinstance(model, str | os.PathLike):
        path = os.fspath(model)
        return _Read(read_archive(path, path))
    try:
        import torch
    except ModuleNotFoundError:
        raise ImportError(
            "axon.from_torch needs PyTorch for what is not a .pt2 file: pip install torch"
        ) from None
    if isinstance(model, torch.export.ExportedProgram):
        if inputs or named:
            raise ProgramError("an ExportedProgram is exported already: it takes no example inputs")
        return _Read(_saved(torch, model, type(model).__name__))
    if not isinstance(model, torch.nn.Module):
        raise ProgramError(
            "axon.from_torch takes a .pt2 file, an ExportedProgram, or an nn.Module with example "
            f"inputs, not {type(model).__name__}"
        )
    program = exported(model, inputs, named)
    saved = _saved(torch, program, type(model).__name__)

    def dynamic() -> Dynamic:
        from axon.importers.torch.dynamic.module import investigate, with_batches_of_two

        two = with_batches_of_two(inputs, named)
        try:
            other = None if two is None else exported(model, *two)
        except ProgramError:  # one row is all that it takes
            other = None
        if two is None or other is None:
            return investigate(saved.model, saved.source, program, model, inputs, named)
        again = _saved(torch, other, type(model).__name__)
        return investigate(again.model, again.source, other, model, *two)

    return _Read(saved, dynamic)


def exported(module: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The module as an `ExportedProgram`, with no size of its inputs fixed unless its code fixes
    it.
    """
    import torch
    from torch.utils import _pytree as pytree

    name = type(module).__name__
    signature = inspect.signature(module.forward)
    try:
        bound = signature.bind(*inputs, **named).arguments
    except TypeError as problem:
        raise ProgramError(
            f"{name} does not take these example inputs: {problem}; "
            f"axon.from_torch({name.lower()}, x) takes them behind the module"
        ) from None
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and parameter.name in bound:
            raise ProgramError(
                f"torch.export leaves no size open for `**{parameter.name}` of {name}: "
                "name these arguments in `forward`"
            )

    def open_sizes(value: Any) -> Any:
        return [torch.export.Dim.AUTO] * value.ndim if isinstance(value, torch.Tensor) else None

    def copy(value: Any) -> Any:  # a failed export leaves marks on its inputs
        if not isinstance(value, torch.Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    given, keywords = pytree.tree_map(copy, (tuple(inputs), dict(named)))
    try:
        return torch.export.export(
            module,
            given,
            keywords,
            dynamic_shapes=pytree.tree_map(open_sizes, dict(bound)),
            strict=False,
        )
    except Exception as problem:  # of any kind: the user's code runs there
        from axon.importers.torch.dynamic.module import line_of_error, place_at

        reason = str(problem).strip()[:LONGEST_REASON] or type(problem).__name__
        line = line_of_error(problem)
        place = None if line is None else place_at(*line)
        where = "" if place is None else f"{place.short}: {place.text}: "
        raise ProgramError(f"{where}torch.export cannot export {name}: {reason}") from problem


def _saved(torch: Any, program: Any, name: str) -> ModelFile:
    """The program as our own reader has it: an archive in memory."""
    buffer = io.BytesIO()
    try:
        torch.export.save(program, buffer)
    except Exception as problem:
        raise ProgramError(f"torch.export.save cannot save {name}: {problem}") from problem
    buffer.seek(0)
    return read_archive(buffer, name)
