"""`axon infer model.onnx`: the signature of a model, and the shape of every tensor.

`axon import model.onnx`: the program that it becomes, and its weights.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from axon.cli.bar import Bar
from axon.cli.out import complain, say
from axon.diagnostics import Diagnostic, Severity
from axon.diagnostics.json import to_json
from axon.diagnostics.text import render_all
from axon.files import Unreadable, Unwritable, replacing, write_page
from axon.source import Source
from axon.syntax import parse_signature
from axon.types.reader import Reader
from axon.types.scope import Scope
from axon.types.show import Show
from axon.types.type import Type

if TYPE_CHECKING:
    from axon.importers.reporting.report import Report

FINE, HAS_ERRORS, WRONG_USAGE = 0, 1, 2

NEEDS_ONNX = "ONNX models need onnx: pip install 'axon-shapes[onnx]'"


def infer(path: str, options: argparse.Namespace) -> tuple[dict[str, object] | None, int]:
    """Print the signature of a model, or give its document."""
    with _model_errors():
        from axon.importers.onnx.load import read_model
        from axon.importers.onnx.model import infer_model

        model = read_model(path)
        types = _input_types(options.input, {info.name for info in model.graph.input})
        report = infer_model(model, path, options.forget_inputs, types)
    if options.write and report.ok:
        _write(options.write, model, report, path)
    found = report.diagnostics
    if options.check:
        found = tuple(_strict(diagnostic) for diagnostic in found)
    status = HAS_ERRORS if any(d.severity == Severity.ERROR for d in found) else FINE
    document = _document(report, found) if options.json else None
    if document is None:
        if report.ok:  # what contradicts itself has no type
            where = f" where {', '.join(report.where)}" if report.where else ""
            say(f"model : {report.signature}{where}")
        if report.suggested:
            listed = ", ".join(f"{name} : {type_}" for name, type_ in report.suggested.items())
            say(f"suggested, and tried: {listed}")
        if found:
            sys.stdout.flush()
            print(render_all(found, sys.stderr.isatty()), file=sys.stderr)
    if options.write and not report.ok:
        complain(f"{options.write} is not written: the model has errors")
    return document, status


def check(path: str) -> tuple[tuple[Diagnostic, ...], str, str]:
    """The diagnostics of a model, its name, and what to say if it has no errors."""
    with _model_errors():
        from axon.importers.onnx.load import read_model
        from axon.importers.onnx.model import infer_model

        model = read_model(path)
        report = infer_model(model, path, False, {})
    count = len(model.graph.node)
    return report.diagnostics, path, f"fine, {count} {'node' if count == 1 else 'nodes'}"


@contextmanager
def _model_errors() -> Iterator[None]:
    """What cannot be read is said in a sentence."""
    try:
        from axon.importers.onnx.load import NoModel
    except ModuleNotFoundError:
        raise Unreadable(NEEDS_ONNX) from None
    try:
        yield
    except ModuleNotFoundError:
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


def _write(path: str, model: Any, report: Report, source: str) -> None:
    from axon.importers.onnx.annotate import annotated

    with replacing(path, _taken(source, model)) as file:
        file.write(annotated(model, report).SerializeToString())


def _taken(path: str, model: Any) -> dict[str, str]:
    """The files that a model is in."""
    from axon.importers.onnx.weights import data_files

    folder = os.path.dirname(os.path.abspath(path))
    data = dict.fromkeys(data_files(model, folder), "a file with data of the model")
    return {**data, path: "the model itself"}


def import_(options: argparse.Namespace) -> int:
    with _model_errors():
        from axon.importers.onnx.load import read_model
        from axon.importers.onnx.model import import_model
        from axon.importers.reporting.problems import problems
        from axon.importers.reporting.wiring import unmade
        from axon.importers.writing.program import write_program

        model = read_model(options.file)
        imported = import_model(model, options.file)
        wrong = [*unmade(imported), *problems(imported, Show(imported.names()))]
        written = write_program(imported)
        with _weights(options, model, written.weights):
            if options.output:
                write_page(options.output, written.text, _taken(options.file, model))
            else:
                print(written.text, end="")
    if written.opaque:
        listed = ", ".join(sorted(set(written.opaque.values())))
        complain(f"no operator does what {listed} do: they are only declared")
    if wrong:
        print(render_all(wrong, sys.stderr.isatty()), file=sys.stderr)
        return HAS_ERRORS
    return FINE


@contextmanager
def _weights(options: argparse.Namespace, model: Any, tensors: dict[str, Any]) -> Iterator[None]:
    """Write the weights, on request, around the writing of the program."""
    if options.weights is None:
        yield
        return
    from axon.importers.onnx.weights import data_files, described, read_weight
    from axon.run.safetensors import ToStore, written

    folder = os.path.dirname(os.path.abspath(options.file))
    taken = [options.file, *data_files(model, folder)]
    if options.output:
        taken.append(options.output)
    for path in taken:
        if os.path.realpath(path) == os.path.realpath(options.weights):
            raise Unwritable(f"{options.weights} is needed for something else; name another file")
    to_store, others = [], []
    for name, tensor in tensors.items():
        found = described(tensor)
        if found is None:
            others.append(name)
        else:
            to_store.append(ToStore(name, *found, partial(read_weight, tensor, folder)))
    with Bar() as bar:
        tell = bar if sys.stderr.isatty() else None
        with written(options.weights, to_store, tell):
            yield
    if others:
        listed = ", ".join(others)
        complain(f"not written, with elements that Axon lacks: {listed}")


def _document(report: Report, found: tuple[Diagnostic, ...]) -> dict[str, object]:
    model = {
        "name": "model",
        "signature": report.signature,
        "where": list(report.where),
        "guards": list(report.guards),
    }
    return {
        "definitions": [model] if report.ok else [],
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
