"""`axon infer`: the signatures of programs and models."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from axon.cli.files import FILES, for_each
from axon.cli.many.options import add_limits
from axon.cli.out import print_diagnostics, say, say_json, wrong
from axon.cli.prover import add_prove, lacks_prover
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics.json import to_json
from axon.files import find_import, read_program
from axon.importers.recognise import is_model

if TYPE_CHECKING:
    from axon.driver import Checked
    from axon.inference.report.plain import Reading
    from axon.run.parameter_table import Parameters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"{FILES}; a folder of them")
    parser.add_argument("--json", action="store_true", help="signatures and diagnostics as JSON")
    parser.add_argument(
        "--classes", action="store_true", help="show element classes (t : float) too"
    )
    parser.add_argument("--names", action="store_true", help="show the names of parameters too")
    parser.add_argument(
        "--params", action="store_true", help="list the tensors in the records that functions take"
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="show what a person would write down for a type with open ranks or broadcasts too",
    )
    parser.add_argument(
        "--notation",
        choices=("infix", "paper"),
        default="infix",
        help="how sums and products of sizes are written: a+b, or (+ a b) as in the paper",
    )
    parser.add_argument(
        "--forget-inputs",
        action="store_true",
        help="of a model: recover the shapes of its inputs from its weights",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="X=TYPE",
        help="of a model: say the type of an input, as in 'x=f32 [n,3,h,w]'",
    )
    parser.add_argument(
        "--write", metavar="PATH", help="of an ONNX model: write it with all shapes declared"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="of a model: an annotation that the graph contradicts is an error",
    )
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="of a PyTorch program: which sizes of its inputs could be any, and what fixes the"
        " others",
    )
    add_prove(parser)
    add_limits(parser)


def run(options: argparse.Namespace) -> int:
    if lacks_prover(options):
        return WRONG_USAGE
    if _is_many(options):
        from axon.cli.many.command import run as run_many

        return run_many(options)
    several = len(options.files) > 1
    if several and options.write:
        return wrong("--write takes one model at a time")
    documents: list[dict[str, object]] = []

    def infer_one(path: str) -> int:
        if several and not options.json:
            say(f"# {path}")
        if is_model(path):
            if options.params:
                return wrong("--params is for programs; a model has its weights inside")
            from axon.cli.models import infer

            document, status = infer(path, options)
        elif options.dynamic:
            return wrong("--dynamic is for programs of PyTorch: .pt2 files")
        else:
            document, status = _infer_program(path, options)
        if document is not None:
            documents.append({"file": path, **document} if several else document)
        return status

    status = for_each(options.files, infer_one)
    if options.json and documents:
        say_json({"files": documents} if several else documents[0])
    return status


def _is_many(options: argparse.Namespace) -> bool:
    """Whether files are inferred in processes of their own."""
    given = (options.jobs, options.timeout, options.memory)
    return any(each is not None for each in given) or any(map(os.path.isdir, options.files))


def infer_document(path: str, options: argparse.Namespace) -> tuple[dict[str, object], int]:
    """The document about a file, a program or a model, and the status for it; `options.json` is
    true.
    """
    if is_model(path):
        from axon.cli.models import infer

        document, status = infer(path, options)
    else:
        document, status = _infer_program(path, options)
    assert document is not None, "with --json nothing is printed"
    return document, status


def _infer_program(path: str, options: argparse.Namespace) -> tuple[dict[str, object] | None, int]:
    """Print the signatures of a program, or give them as a document."""
    from axon.driver import check

    paper = options.notation == "paper"
    checked = check(read_program(path), find_import, paper, options.prove)
    status = FINE if checked.ok else HAS_ERRORS
    readings: Sequence[Reading | None] = (None,) * len(checked.signatures)
    if options.json or options.plain or options.params:
        from axon.plain import confirmed

        readings = confirmed(checked)
    plain = [None if reading is None else reading.text for reading in readings]
    tables = parameter_tables(checked, readings) if options.params else [None] * len(plain)
    if options.json:
        definitions = [
            {
                "name": s.name,
                "signature": s.signature,
                "where": list(s.where),
                "guards": list(s.guards),
                "classes": list(s.classes),
                "params": [name for name, _ in s.params],
                "plain": reading,
                **({} if table is None else {"parameters": table.as_json()}),
            }
            for s, reading, table in zip(checked.signatures, plain, tables, strict=True)
        ]
        diagnostics = [to_json(d) for d in checked.diagnostics]
        return {"definitions": definitions, "diagnostics": diagnostics}, status
    for signature, reading, table in zip(checked.signatures, plain, tables, strict=True):
        say(signature.line(options.classes, options.names))
        if options.plain and reading is not None:
            say(f"plain: {reading}")
        if table:
            say("\n".join(f"  {line}" for line in repr(table).splitlines()))
    print_diagnostics(checked.diagnostics)
    return None, status


def parameter_tables(checked: Checked, plain: Sequence[Reading | None]) -> list[Parameters | None]:
    """The parameters of each definition, with the ranks of its plain reading if it has one."""
    from axon.run.parameter_table import table
    from axon.run.parameters import unsettled

    definitions = zip(checked.inferred.definitions, plain, strict=True)
    return [table(unsettled(definition, reading)) for definition, reading in definitions]
