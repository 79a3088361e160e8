"""Models of other formats where a program may stand too: their signatures and diagnostics."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from axon.cli.out import complain, print_diagnostics, say
from axon.cli.status import FINE, HAS_ERRORS
from axon.diagnostics import Diagnostic, Severity
from axon.diagnostics.json import to_json
from axon.files import Unreadable, replacing
from axon.source import Source
from axon.syntax import parse_signature
from axon.types.reader import Reader
from axon.types.scope import Scope
from axon.types.type import Type

if TYPE_CHECKING:
    from axon.importers.formats import ModelFile
    from axon.importers.reporting.report import Report

OF_ONNX = frozenset({"onnx", "google", "numpy"})
"""Packages that reading an ONNX file imports."""
NEEDS_ONNX = "ONNX models need onnx: pip install 'axon-shapes[onnx]'"


def infer(path: str, options: argparse.Namespace) -> tuple[dict[str, object] | None, int]:
    """Print the signature of a model, or give its document."""
    with model_errors():
        from axon.importers.formats import read_model
        from axon.importers.recognise import ONNX, TORCH

        model = read_model(path)
        if options.write and model.kind != ONNX:
            raise BadInput(f"--write is for ONNX models; {path} has the shapes of its tensors")
        if options.dynamic and model.kind != TORCH:
            raise BadInput(f"--dynamic is for programs of PyTorch; {path} is an ONNX model")
        types = _input_types(options.input, model.inputs)
        report = model.report(options.forget_inputs, types)
        dynamic = model.dynamic() if options.dynamic else None
    if options.write and report.ok:
        _write(options.write, model, report)
    found = report.diagnostics
    if options.check:
        found = tuple(_strict(diagnostic) for diagnostic in found)
    status = HAS_ERRORS if any(d.severity == Severity.ERROR for d in found) else FINE
    document = _document(report, found, model.nodes) if options.json else None
    if document is not None and dynamic is not None:
        document |= dynamic.as_json()
    if document is None and dynamic is not None:
        say(str(dynamic))
        print_diagnostics(found)
    elif document is None:
        if report.ok:  # what contradicts itself has no type
            where = f" where {', '.join(report.where)}" if report.where else ""
            say(f"model : {report.signature}{where}")
        if report.suggested:
            listed = ", ".join(f"{name} : {type_}" for name, type_ in report.suggested.items())
            say(f"suggested, and tried: {listed}")
        print_diagnostics(found)
    if options.write and not report.ok:
        complain(f"{options.write} is not written: the model has errors")
    return document, status


def check(path: str) -> tuple[tuple[Diagnostic, ...], str, str]:
    """The diagnostics of a model, its name, and what to say if it has no errors."""
    with model_errors():
        from axon.importers.formats import read_model

        model = read_model(path)
        report = model.report()
    count = model.nodes
    return report.diagnostics, path, f"fine, {count} {'node' if count == 1 else 'nodes'}"


@contextmanager
def model_errors() -> Iterator[None]:
    """What cannot be read is said in a sentence."""
    from axon.importers.operations import NoModel

    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in OF_ONNX:
            raise
        raise Unreadable(NEEDS_ONNX) from None
    except (NoModel, BadInput) as problem:
        raise Unreadable(str(problem)) from None


class BadInput(Exception):
    """A type that cannot be read; the sentence says why."""


def _input_types(texts: list[str], names: set[str]) -> dict[str, Type]:
    """The types stated for inputs: `x=f32 [n,3,h,w]`. A name means the same in all of them."""
    reader = Reader(Scope(), 1, 1)
    reader.in_parameter = True
    types: dict[str, Type] = {}
    for text in texts:
        name, equals, written = text.partition("=")
        if not equals:
            raise BadInput(f"`{text}`: an input is written NAME=TYPE, as in x=f32 [n,3,h,w]")
        if name not in names:
            listed = ", ".join(sorted(names)) or "none"
            raise BadInput(f"the model has no input `{name}`: its inputs are {listed}")
        parsed, problems = parse_signature(Source(f"the type of {name}", written))
        if parsed is None or problems:
            raise BadInput(f"`{written}` is not a type")
        types[name] = reader.read_type(parsed.type)
        if reader.diagnostics:
            raise BadInput(f"`{written}` is not a type: {reader.diagnostics[0].message}")
    return types


def _write(path: str, model: ModelFile, report: Report) -> None:
    from axon.importers.onnx.annotate import annotated

    with replacing(path, model.files()) as file:
        file.write(annotated(model.source, report).SerializeToString())


def _document(report: Report, found: tuple[Diagnostic, ...], nodes: int) -> dict[str, object]:
    model = {
        "name": "model",
        "signature": report.signature,
        "where": list(report.where),
        "guards": list(report.guards),
    }
    return {
        "definitions": [model] if report.ok else [],
        "nodes": nodes,
        "tensors": {
            name: {
                "dtype": t.dtype,
                "shape": None if t.shape is None else list(t.shape),
                "partial": t.partial,
            }
            for name, t in report.tensors.items()
        },
        "where": list(report.where),
        "guards": list(report.guards),
        "suggested": report.suggested,
        "unsupported": list(report.unsupported),
        "diagnostics": [to_json(d) for d in found],
    }


def _strict(found: Diagnostic) -> Diagnostic:
    """A model's own declarations and its inputs must be right; what is not known may be."""
    return found if found.code == "AX503" else replace(found, severity=Severity.ERROR)
