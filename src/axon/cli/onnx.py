"""`axon infer model.onnx`: the signature of a model, and the shape of every tensor."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from axon.diagnostics import Diagnostic, Severity
from axon.diagnostics.json import to_json
from axon.diagnostics.text import render_all
from axon.files import write_page

if TYPE_CHECKING:
    from axon.importers.onnx.report import Report

FINE, HAS_ERRORS, WRONG_USAGE = 0, 1, 2


def infer(options: argparse.Namespace) -> int:
    try:
        from axon.importers.onnx.load import NoModel
        from axon.importers.onnx.report import infer_file

        report = infer_file(options.file, options.forget_inputs)
    except ModuleNotFoundError:
        print("axon: ONNX models need onnx: pip install 'axon-shapes[onnx]'", file=sys.stderr)
        return WRONG_USAGE
    except NoModel as problem:
        print(f"axon: {problem}", file=sys.stderr)
        return WRONG_USAGE
    found = report.diagnostics
    if options.check:
        found = tuple(replace(d, severity=Severity.ERROR) for d in found)
    if options.json:
        print(json.dumps(_document(report, found), ensure_ascii=False, indent=2))
    else:
        where = f" where {', '.join(report.where)}" if report.where else ""
        print(f"model : {report.signature}{where}")
        if found:
            print(render_all(found, sys.stderr.isatty()), file=sys.stderr)
    _tell_unsupported(report)
    return HAS_ERRORS if any(d.severity == Severity.ERROR for d in found) else FINE


def import_(options: argparse.Namespace) -> int:
    try:
        from axon.importers.onnx.load import NoModel, read_model
        from axon.importers.onnx.model import import_model
        from axon.importers.onnx.program import write_program

        model = read_model(options.file)
        written = write_program(import_model(model, options.file), model)
    except ModuleNotFoundError:
        print("axon: ONNX models need onnx: pip install 'axon-shapes[onnx]'", file=sys.stderr)
        return WRONG_USAGE
    except NoModel as problem:
        print(f"axon: {problem}", file=sys.stderr)
        return WRONG_USAGE
    if options.output:
        write_page(options.output, options.file, written.text)
    else:
        print(written.text, end="")
    if written.opaque:
        listed = ", ".join(sorted(set(written.opaque.values())))
        print(f"axon: no operator does what {listed} do: they are only declared", file=sys.stderr)
    return FINE


def _document(report: Report, found: tuple[Diagnostic, ...]) -> dict[str, object]:
    return {
        "definitions": [
            {
                "name": "model",
                "signature": report.signature,
                "where": list(report.where),
                "guards": list(report.guards),
            }
        ],
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
        "unsupported": list(report.unsupported),
        "diagnostics": [to_json(d) for d in found],
    }


def _tell_unsupported(report: Report) -> None:
    if report.unsupported:
        listed = ", ".join(report.unsupported)
        print(f"axon: no rule for {listed}: what they make is not known", file=sys.stderr)
