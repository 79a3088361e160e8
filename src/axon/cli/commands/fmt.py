"""`axon fmt`: programs in their canonical form."""

from __future__ import annotations

import argparse
import os
import sys

from axon.cli.files import for_each, no_programs, programs
from axon.cli.out import complain, print_diagnostics, say, say_json
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics import Diagnostic
from axon.diagnostics.json import to_json
from axon.files import Unwritable, read_program, write_page
from axon.format import Formatted, format_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a program, a folder of them, or - for standard input",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--check", action="store_true", help="list the files that would change; exit 1 if any would"
    )
    instead.add_argument(
        "--diff", action="store_true", help="show what would change; exit 1 if anything would"
    )
    parser.add_argument("--json", action="store_true", help="what was found in each file, as JSON")


def run(options: argparse.Namespace) -> int:
    documents: list[dict[str, object]] = []

    def format_one(path: str) -> int:
        source = read_program(path, empty=True)
        found = format_text(source.text, source.name)
        if options.json:
            documents.append(_document(found, source.name, options.diff, path == "-"))
        if not isinstance(found, Formatted):
            if not options.json:
                print_diagnostics(found)
            return HAS_ERRORS
        if options.check or options.diff:
            if not options.json:
                _show(found, options.diff)
            return HAS_ERRORS if found.changed else FINE
        if path == "-":
            if not options.json:
                _write(found.text)
        elif found.changed:
            return _replace(path, found.text, quiet=options.json)
        return FINE

    paths = list(programs(options.files))
    if not paths:
        complain(no_programs(options.files))
        return WRONG_USAGE
    status = for_each(paths, format_one)
    if options.json:
        say_json({"files": documents})
    return status


def _show(found: Formatted, diff: bool) -> None:
    if diff:
        _write(found.diff())
    elif found.changed:
        say(found.name)


def _document(
    found: Formatted | tuple[Diagnostic, ...], name: str, diff: bool, is_input: bool
) -> dict[str, object]:
    """What there is to say about a file; of standard input, its text too."""
    if not isinstance(found, Formatted):
        return {"file": name, "changed": False, "diagnostics": [to_json(d) for d in found]}
    more: dict[str, object] = {"diff": found.diff()} if diff else {}
    if is_input:
        more["text"] = found.text
    return {"file": name, "changed": found.changed, **more, "diagnostics": []}


def _replace(path: str, text: str, quiet: bool) -> int:
    try:
        if not os.access(path, os.W_OK):
            raise Unwritable(f"{path} may not be written: permission denied")
        write_page(path, text, {})
    except Unwritable as problem:
        complain(str(problem))
        return WRONG_USAGE
    if not quiet:
        say(f"formatted {path}")
    return FINE


def _write(text: str) -> None:
    """A text as it is, whatever the encoding of the terminal."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    stream.write(text.encode("utf-8"))
    stream.flush()
