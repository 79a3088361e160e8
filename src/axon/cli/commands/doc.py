"""`axon doc`: a page about the definitions of programs."""

from __future__ import annotations

import argparse

from axon.cli.files import for_each
from axon.cli.status import FINE, HAS_ERRORS
from axon.cli.written import add_json, tell, tell_nothing
from axon.diagnostics import Diagnostic
from axon.files import Finder, read_program, write_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a program, or - for standard input"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="write it there, as HTML if it ends in .html, else as Markdown; without, Markdown on "
        "standard output",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from axon.cli.commands.infer import parameter_tables
    from axon.driver import check
    from axon.plain import confirmed
    from axon.reference.program import Page, page_of

    finder = Finder()
    pages: list[Page] = []
    errors: list[Diagnostic] = []

    def document_one(path: str) -> int:
        checked = check(read_program(path), finder)
        found = [d for d in checked.diagnostics if d.severity == "error"]
        if found and not options.json:
            tell_nothing(options, found)
        errors.extend(found)
        if not checked.ok:
            return HAS_ERRORS
        tables = parameter_tables(checked, confirmed(checked))
        pages.append(page_of(checked, [repr(t) if t else "" for t in tables]))
        return FINE

    status = for_each(options.files, document_one)
    if not pages or status != FINE:
        if options.json:
            tell_nothing(options, errors)
        return status
    if options.output is not None and options.output.endswith((".html", ".htm")):
        from axon.reference.html import as_html

        text = as_html(pages)
    else:
        from axon.reference.markdown import as_markdown

        text = "\n".join(map(as_markdown, pages))
    if options.output is None:
        return tell(options, (), text.rstrip("\n"))
    taken = dict.fromkeys(finder.read, "a program that it imports")
    programs = dict.fromkeys(options.files, "the program itself")
    write_page(options.output, text, {**taken, **programs})
    return tell(options, ())
