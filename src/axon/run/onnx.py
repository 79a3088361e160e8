"""Running ONNX models."""

from __future__ import annotations

import os
from typing import Any

from axon.importers.formats import of_onnx, read_model
from axon.importers.onnx.load import checked
from axon.importers.operations import NoModel
from axon.run.errors import ProgramError
from axon.run.models import ModelProgram


def from_onnx(model: Any, *, backend: str = "numpy") -> ModelProgram:
    """A program from an ONNX file, or from a model that was loaded: it has one definition, `model`,
    and a `report`.

    What no operator of Axon does is only declared; say what it does with `implement`.
    """
    try:
        if isinstance(model, str | os.PathLike):
            read = read_model(os.fspath(model))
        else:
            read = of_onnx(checked(model, "model.onnx"), "model.onnx")
        return ModelProgram(read, backend)
    except NoModel as problem:
        raise ProgramError(str(problem)) from None
