"""`axon graph`: a definition or a model as a picture, a page, or text."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from axon.cli.out import complain, wrong
from axon.cli.status import HAS_ERRORS, WRONG_USAGE
from axon.cli.written import add_json, tell, tell_nothing
from axon.files import Finder, read_program, replacing, write_page
from axon.importers.recognise import is_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from axon.diagnostics import Diagnostic
    from axon.pages.drawing import Picture
    from axon.source import Source

FILES_DRAWN = "a program, an ONNX model (.onnx), or a PyTorch program (.pt2)"
FORMATS = (".svg", ".png", ".html", ".dot")
DEEPEST = 99


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILES_DRAWN)
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="a definition; the only one, or the last"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="a .svg, .png, .html or .dot file; without it the graph is printed as text",
    )
    parser.add_argument(
        "--depth", type=_count, metavar="N", default=0, help="open the boxes of N levels"
    )
    parser.add_argument(
        "--theme",
        choices=("light", "dark"),
        help="the colours; an SVG has those that its reader prefers otherwise",
    )
    add_json(parser)


def _count(text: str) -> int:
    if not text.isdigit() or len(text) > 3:
        raise argparse.ArgumentTypeError(f"{text[:20]} is no number of levels")
    return min(int(text), DEEPEST)


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        suffix = os.path.splitext(options.output)[1].lower()
        if suffix not in FORMATS:
            return wrong(f"{options.output!r}: the name of the output ends in {_listed(FORMATS)}")
        if suffix == ".png":
            from axon.pages.png import NEEDED, missing

            if missing():
                complain(NEEDED)
                return WRONG_USAGE
    if is_model(options.file):
        return _model(options)
    return _program(options)


def _program(options: argparse.Namespace) -> int:
    from axon.pages.program import picture_of
    from axon.pages.recorded import Files

    finder = Finder()
    source = read_program(options.file)
    if options.output is not None and options.output.lower().endswith(".html"):
        return _page(options, source, finder)
    recorded = Files(finder).recorded(source)
    names = recorded.names()
    name = options.name or (names[-1] if names else None)
    picture = None if name is None else picture_of(recorded, name)
    if picture is None:
        return _no_such(options, names, recorded.diagnostics)
    text = _write(options, picture, None, _files(options, finder))
    return tell(options, recorded.diagnostics, text)


def _page(options: argparse.Namespace, source: Source, finder: Finder) -> int:
    """The page has the derivations too."""
    from axon.driver import check
    from axon.pages.page import explain_page

    checked = check(source, finder, reasons=True)
    inferred = checked.inferred
    names = [*(d.name for d in inferred.definitions), *(d.name for d in inferred.failed)]
    if not names or options.name not in (None, *names):
        return _no_such(options, names, checked.diagnostics)
    page = explain_page(checked, options.name, find_file=finder, view="graph")
    write_page(options.output, page, _files(options, finder))
    return tell(options, checked.diagnostics)


def _no_such(options: argparse.Namespace, names: list[str], found: Sequence[Diagnostic]) -> int:
    tell_nothing(options, found)
    if options.name is not None:
        return wrong(f"`{options.name}` does not exist; definitions: {', '.join(names) or 'none'}")
    complain(f"{options.file} has no definition to draw")
    return HAS_ERRORS if any(d.severity == "error" for d in found) else WRONG_USAGE


def _files(options: argparse.Namespace, finder: Finder) -> dict[str, str]:
    imported = dict.fromkeys(finder.read, "a program that it imports")
    return {**imported, options.file: "the program itself"}


def _model(options: argparse.Namespace) -> int:
    from axon.cli.models import model_errors

    if options.name not in (None, "model"):
        return wrong(f"`{options.name}` does not exist; a model is one definition, `model`")
    with model_errors():
        from axon.importers.formats import read_model
        from axon.importers.reporting.report import report_on
        from axon.pages.model import picture_of_model
        from axon.pages.page import model_page
        from axon.workspace import workspace

        imported = read_model(options.file).imported(program=False)
        with workspace():
            report = report_on(imported, options.file, suggesting=False)
            title = os.path.splitext(os.path.basename(options.file))[0]
            picture = picture_of_model(imported, report, title)
        page = None
        if options.output is not None and options.output.lower().endswith(".html"):
            page = model_page(picture, options.file)
    text = _write(options, picture, page, {options.file: "the model itself"})
    return tell(options, report.diagnostics, text)


def _write(
    options: argparse.Namespace, picture: Picture, page: str | None, taken: dict[str, str]
) -> str | None:
    """Write the picture as its file's name asks; without a file, the text of it."""
    if options.output is None:
        from axon.pages.outline import outline_of

        return outline_of(picture, options.depth)
    from axon.pages.formats import in_format

    suffix = os.path.splitext(options.output)[1].lower()
    made = page or in_format(picture, suffix, options.depth, options.theme or "")
    if isinstance(made, bytes):
        with replacing(options.output, taken) as file:
            file.write(made)
    else:
        write_page(options.output, made, taken)
    return None


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
