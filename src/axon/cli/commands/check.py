"""`axon check`: the diagnostics of programs and models."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from axon.cli.files import FILES, counted, for_each, programs
from axon.cli.out import print_diagnostics, say, say_json, wrong
from axon.cli.prover import add_prove, lacks_prover
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics.json import to_json
from axon.files import find_import, read_program
from axon.importers.recognise import ENDINGS, is_model

if TYPE_CHECKING:
    from axon.diagnostics import Diagnostic
    from axon.driver import Checked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"{FILES}; a folder of them")
    parser.add_argument("--json", action="store_true", help="the diagnostics as JSON")
    parser.add_argument(
        "--github", action="store_true", help="each message as an annotation of GitHub too"
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 on warnings too")
    add_prove(parser)


def run(options: argparse.Namespace) -> int:
    if lacks_prover(options):
        return WRONG_USAGE
    found: list[Diagnostic] = []

    def check_one(path: str) -> int:
        if is_model(path):
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
            if options.github:
                for diagnostic in diagnostics:
                    say(annotation(diagnostic))
            if ok:
                say(f"{name}: {verdict}")
        warned = options.strict and any(d.severity == "warning" for d in diagnostics)
        return FINE if ok and not warned else HAS_ERRORS

    paths = list(programs(options.files, (".axon", *ENDINGS)))
    if not paths:
        listed = ", ".join(options.files)
        return wrong(f"{listed}: no programs and no models in this directory")
    status = for_each(paths, check_one)
    if options.json:
        say_json({"diagnostics": [to_json(d) for d in found]})
    return status


def annotation(diagnostic: Diagnostic) -> str:
    """A command of GitHub Actions that shows a message at its line."""
    level = "notice" if diagnostic.severity == "note" else str(diagnostic.severity)
    place = {"title": f"{diagnostic.severity} {diagnostic.code}"}
    if diagnostic.span is not None:
        span = diagnostic.span
        name = span.source.name.removeprefix("./")  # as GitHub calls it
        place |= {"file": name, "line": str(span.line), "col": str(span.column)}
    listed = ",".join(f"{name}={_escaped(text, ',:')}" for name, text in place.items())
    lines = [diagnostic.message]
    for label in diagnostic.labels:
        if label.text:
            lines.append(
                f"line {label.span.line}, {' '.join(label.span.text.split())}: {label.text}"
            )
    lines += [*diagnostic.notes, *(f"help: {text}" for text in diagnostic.help)]
    return f"::{level} {listed}::{_escaped(chr(10).join(lines))}"


def _escaped(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _verdict(result: Checked) -> str:
    warnings = len(result.warnings)
    fine = f"{counted(warnings, 'warning')} in" if warnings else "fine,"
    return f"{fine} {counted(len(result.inferred.definitions), 'definition')}"
