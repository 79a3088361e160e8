"""Running ONNX models: each becomes a program."""

from __future__ import annotations

import os
from typing import Any

from axon.importers.onnx.load import checked, read_model
from axon.importers.onnx.model import import_model
from axon.importers.onnx.weights import weight
from axon.importers.operations import NoModel
from axon.importers.writing.program import write_program
from axon.run.errors import ProgramError
from axon.run.program import Program
from axon.run.weights import Weight
from axon.source import Source


def from_onnx(model: Any, *, backend: str = "numpy") -> Program:
    """A program from an ONNX file, or from a model that was loaded: it has one definition, `model`.

    What no operator of Axon does is only declared; say what it does with `implement`.
    """
    folder = None
    try:
        if isinstance(model, str | os.PathLike):
            path = os.fspath(model)
            folder, name = os.path.dirname(os.path.abspath(path)), path
            model = read_model(path)
        else:
            name = "model.onnx"
            model = checked(model, name)
        imported = import_model(model, name)
        written = write_program(imported)
    except NoModel as problem:
        raise ProgramError(str(problem)) from None
    ops = {alias: Weight(weight(tensor, folder)) for alias, tensor in written.weights.items()}
    return Program(Source(f"{name}.axon", written.text), backend, ops)
