"""Running models of other formats: each becomes a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Self

from axon.importers.formats import ModelFile
from axon.importers.operations import NoModel
from axon.importers.recognise import TORCH
from axon.importers.reporting.report import Report
from axon.importers.writing.program import write_program
from axon.run.backend import Backend
from axon.run.errors import ProgramError
from axon.run.program import Program
from axon.run.weights import Weight
from axon.source import Source

if TYPE_CHECKING:
    from axon.importers.torch.dynamic.table import Dynamic


class ModelProgram(Program):
    """The program that a model becomes: it has the definition `model`, and functions for layers
    that repeat. What no operator of Axon does is only declared; say what it does with `implement`.
    """

    def __init__(
        self,
        model: ModelFile,
        backend_name: str = "numpy",
        investigate: Callable[[], Dynamic] | None = None,
    ) -> None:
        written = write_program(model.imported())
        ops = {alias: Weight(model.weight(tensor)) for alias, tensor in written.weights.items()}
        super().__init__(Source(f"{model.name}.axon", written.text), backend_name, ops)
        self._model = model
        self._investigate = investigate

    @cached_property
    def dynamic(self) -> Dynamic:
        """Which sizes of the inputs could be any, and what fixes the others; of a PyTorch program.
        It prints as a table.
        """
        if self._model.kind != TORCH:
            raise ProgramError(f"{self._model.name} is an ONNX model: `dynamic` is of PyTorch's")
        try:
            return (self._investigate or self._model.dynamic)()
        except NoModel as problem:  # what the exporter says of sizes is read only now
            raise ProgramError(str(problem)) from None

    @cached_property
    def report(self) -> Report:
        """What inference found about the model: its signature, the shape of each of its tensors by
        name, conditions, and messages with their places.
        """
        return self._model.report()

    def _on(self, made: Backend) -> Self:
        other = super()._on(made)
        other._model, other._investigate = self._model, self._investigate
        return other
