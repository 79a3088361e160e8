"""Running models of other formats: each becomes a program."""

from __future__ import annotations

from functools import cached_property

from axon.importers.formats import ModelFile
from axon.importers.reporting.report import Report
from axon.importers.writing.program import write_program
from axon.run.program import Program
from axon.run.weights import Weight
from axon.source import Source


class ModelProgram(Program):
    """The program that a model becomes: it has the definition `model`, and functions for layers
    that repeat. What no operator of Axon does is only declared; say what it does with `implement`.
    """

    def __init__(self, model: ModelFile, backend_name: str = "numpy") -> None:
        written = write_program(model.imported())
        ops = {alias: Weight(model.weight(tensor)) for alias, tensor in written.weights.items()}
        super().__init__(Source(f"{model.name}.axon", written.text), backend_name, ops)
        self._model = model

    @cached_property
    def report(self) -> Report:
        """What inference found about the model: its signature, the shape of each of its tensors by
        name, conditions, and messages with their places.
        """
        return self._model.report()

    def on(self, backend_name: str) -> ModelProgram:
        """The same program on another backend."""
        made = super().on(backend_name)
        assert isinstance(made, ModelProgram)
        made._model = self._model
        return made
