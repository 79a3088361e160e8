"""The formats of models, and what the reader of each makes of a file.

A reader is imported when a file of its format is read.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from axon.importers.imported import Imported, import_operations
from axon.importers.node import Format
from axon.importers.operations import Constant, Model, NoModel
from axon.importers.recognise import ONNX, TORCH, ZIP, by_ending, format_of
from axon.importers.reporting.report import Report, report_on
from axon.importers.reporting.why import Reasons, opened, question_of, reasons
from axon.types.type import Type
from axon.workspace import workspace

if TYPE_CHECKING:
    from axon.importers.torch.dynamic.table import Dynamic


class Weights(Protocol):
    """What each format has for the weights of its models: a module."""

    def described(self, constant: Constant) -> tuple[str, tuple[int, ...]] | None:
        """The element type and the sizes of a weight; None if its elements are not Axon's."""

    def read_weight(self, constant: Constant, folder: str | None) -> Any:
        """The values of a weight as an array; raises `NoModel`. They are read again each time."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model that was read, from a file or from memory."""

    name: str
    kind: str
    model: Model
    format: Format
    source: Any
    """The model as its format has it: an ONNX message, or an archive."""
    folder: str | None = None
    """Where the files are in which it keeps weights; None if there can be none."""

    @property
    def inputs(self) -> set[str]:
        return {declared.name for declared in self.model.graph.inputs}

    @property
    def nodes(self) -> int:
        return len(self.model.graph.operations)

    def imported(
        self,
        forget: bool = False,
        said: dict[str, Type] | None = None,
        reasons: bool = True,
        program: bool = True,
    ) -> Imported:
        """The model, inferred; see `import_operations`."""
        return import_operations(self.model, self.format, self.name, forget, said, reasons, program)

    def report(
        self,
        forget: bool = False,
        said: dict[str, Type] | None = None,
        suggesting: bool = True,
    ) -> Report:
        """Everything there is to know about the model. `said` is what the caller says of inputs;
        suggestions take as long as inferring the model several times.
        """
        with workspace():
            found = self.imported(forget, said, program=False)
            return report_on(found, self.name, forget, suggesting)

    def dynamic(self) -> Dynamic:
        """Which sizes of its inputs could be any; of a PyTorch program."""
        from axon.importers.torch.dynamic.answers import dynamic_of

        return dynamic_of(self.model, self.source)

    def why(self, question: str) -> list[Reasons]:
        """Why a tensor has the sizes that it has. Those of an input are forgotten for that, so that
        what asks for them is found; raises `NoSuchSize`.
        """
        with workspace():
            declared = self._explained({})
            known = declared.importer.types.keys() - declared.importer.hidden
            asked = question_of(question, known, declared.outputs)
            if asked.name not in declared.inputs:
                return reasons(declared, asked, {})
            if self.kind == TORCH:
                from axon.importers.torch.dynamic.reasons import reasons_of

                return reasons_of(self.dynamic(), self.model, asked)
            said = opened(declared)
            found = self._explained(said)
            if found.is_wrong or asked.name not in said:
                return reasons(declared, asked, {})
            return reasons(found, asked, said)

    def _explained(self, said: dict[str, Type]) -> Imported:
        return import_operations(
            self.model, self.format, self.name, said=said, program=False, explained=True
        )

    # --- weights ---

    def described(self, constant: Constant) -> tuple[str, tuple[int, ...]] | None:
        return self._weights().described(constant)

    def read(self, constant: Constant) -> Any:
        """The values of a weight. They are read again each time."""
        return self._weights().read_weight(constant, self.folder)

    def weight(self, constant: Constant) -> Callable[[], Any]:
        """A function that gives the values of a weight, read the first time that it is called."""
        known: list[Any] = []

        def values() -> Any:
            if not known:
                known.append(self.read(constant))
            return known[0]

        return values

    def files(self) -> dict[str, str]:
        """The files that the model is in, and what each of them is."""
        beside: dict[str, str] = {}
        if self.kind == ONNX and self.folder is not None:
            from axon.importers.onnx.weights import data_files

            what = "a file with data of the model"
            beside = dict.fromkeys(data_files(self.source, self.folder), what)
        return {**beside, self.name: "the model itself"}

    def _weights(self) -> Weights:
        if self.kind == ONNX:
            from axon.importers.onnx import weights as onnx_weights

            return onnx_weights
        from axon.importers.torch import weights as torch_weights

        return torch_weights


# --- readers -----------------------------------------------------------------------------------


def read_model(path: str) -> ModelFile:
    """The model in a file; raises `NoModel`."""
    if format_of(path) == TORCH:
        return read_archive(path, path)
    from axon.importers.onnx.load import read_model as read_onnx

    return of_onnx(read_onnx(path), path, os.path.dirname(os.path.abspath(path)))


def read_bytes(data: bytes, name: str) -> ModelFile:
    """The model in a file's bytes, without native code and without packages."""
    if data[: len(ZIP)] == ZIP:
        return read_archive(io.BytesIO(data), name)
    if by_ending(name) == TORCH:
        raise NoModel(f"{name} is not a .pt2 archive: it is no zip file")
    from axon.importers.onnx.load import read_bytes as read_onnx_bytes

    return of_onnx(read_onnx_bytes(data, name), name)


def of_onnx(proto: Any, name: str, folder: str | None = None) -> ModelFile:
    """An ONNX message."""
    from axon.importers.onnx.model import ONNX as FORMAT
    from axon.importers.onnx.read import model_of

    with workspace():
        return ModelFile(name, ONNX, model_of(proto), FORMAT, proto, folder)


def read_archive(file: Any, name: str) -> ModelFile:
    """What `torch.export.save` wrote, by its path or as a binary file."""
    from axon.importers.torch.archive import open_archive
    from axon.importers.torch.model import TORCH as FORMAT
    from axon.importers.torch.read import model_of

    archive = open_archive(file, name)  # JSON may not be nested as deep as programs may
    with workspace():
        return ModelFile(name, TORCH, model_of(archive), FORMAT, archive)
