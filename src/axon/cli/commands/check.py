"""`axon check`: the diagnostics of programs and models."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from axon.cli.files import FILES, counted, for_each
from axon.cli.out import print_diagnostics, say, say_json
from axon.cli.prover import add_prove, lacks_prover
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics.json import to_json
from axon.files import find_import, read_program

if TYPE_CHECKING:
    from axon.diagnostics import Diagnostic
    from axon.driver import Checked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument("--json", action="store_true", help="the diagnostics as JSON")
    parser.add_argument("--strict", action="store_true", help="exit 1 on warnings too")
    add_prove(parser)


def run(options: argparse.Namespace) -> int:
    if lacks_prover(options):
        return WRONG_USAGE
    found: list[Diagnostic] = []

    def check_one(path: str) -> int:
        if path.endswith(".onnx"):
            from axon.cli.models import check as check_model

            diagnostics, name, verdict = check_model(path)
        else:
            from axon.driver import check

            result = check(read_program(path), find_import, prove=options.prove)
            name = result.program.source.name
            diagnostics, verdict = result.diagnostics, _verdict(result)
        ok = not any(d.severity == "error" for d in diagnostics)
        if options.json:
            found.extend(diagnostics)
        else:
            print_diagnostics(diagnostics)
            if ok:
                say(f"{name}: {verdict}")
        warned = options.strict and any(d.severity == "warning" for d in diagnostics)
        return FINE if ok and not warned else HAS_ERRORS

    status = for_each(options.files, check_one)
    if options.json:
        say_json({"diagnostics": [to_json(d) for d in found]})
    return status


def _verdict(result: Checked) -> str:
    warnings = len(result.warnings)
    fine = f"{counted(warnings, 'warning')} in" if warnings else "fine,"
    return f"{fine} {counted(len(result.inferred.definitions), 'definition')}"
