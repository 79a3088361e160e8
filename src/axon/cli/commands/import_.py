"""`axon import`: the program that a model becomes, and its weights."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from axon.cli.bar import Bar
from axon.cli.models import model_errors
from axon.cli.out import complain, print_diagnostics
from axon.cli.status import FINE, HAS_ERRORS
from axon.cli.written import add_json, tell
from axon.files import Unwritable, write_page
from axon.types.show import Show

if TYPE_CHECKING:
    from axon.importers.formats import ModelFile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="MODEL", help="an ONNX model (.onnx), or a PyTorch program (.pt2)"
    )
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="write it there, not on the terminal"
    )
    parser.add_argument(
        "--weights",
        metavar="PATH",
        help="write the weights there too, as a safetensors file that `axon run` takes",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    with model_errors():
        from axon.importers.formats import read_model
        from axon.importers.reporting.problems import problems
        from axon.importers.reporting.wiring import unmade
        from axon.importers.writing.program import write_program

        model = read_model(options.file)
        imported = model.imported()
        wrong = [*unmade(imported), *problems(imported, Show(imported.names()))]
        written = write_program(imported)
        with _weights(options, model, written.weights):
            if options.output:
                write_page(options.output, written.text, model.files())
            elif not options.json:
                print(written.text, end="")
    declared = sorted(set(written.opaque.values()))
    if options.json:
        text = None if options.output else written.text
        return tell(options, wrong, text, weights=options.weights, declared=declared)
    if declared:
        complain(f"no operator does what {', '.join(declared)} do: they are only declared")
    print_diagnostics(wrong)
    return HAS_ERRORS if wrong else FINE


@contextmanager
def _weights(
    options: argparse.Namespace, model: ModelFile, tensors: dict[str, Any]
) -> Iterator[None]:
    """Write the weights, on request, around the writing of the program."""
    if options.weights is None:
        yield
        return
    from axon.run.safetensors import ToStore, written

    taken = list(model.files())
    if options.output:
        taken.append(options.output)
    for path in taken:
        if os.path.realpath(path) == os.path.realpath(options.weights):
            raise Unwritable(f"{options.weights} is needed for something else; name another file")
    to_store, others = [], []
    for name, tensor in tensors.items():
        found = model.described(tensor)
        if found is None:
            others.append(name)
        else:
            to_store.append(ToStore(name, *found, partial(model.read, tensor)))
    with Bar() as bar:
        tell = bar if sys.stderr.isatty() else None
        with written(options.weights, to_store, tell):
            yield
    if others:
        listed = ", ".join(others)
        complain(f"not written, with elements that Axon lacks: {listed}")
