"""`axon fmt`: programs in their canonical form."""

from __future__ import annotations

import argparse
import os
import sys

from axon.cli.files import for_each, programs
from axon.cli.out import complain, print_diagnostics, say
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
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


def run(options: argparse.Namespace) -> int:
    def format_one(path: str) -> int:
        source = read_program(path)
        found = format_text(source.text, source.name)
        if not isinstance(found, Formatted):
            print_diagnostics(found)
            return HAS_ERRORS
        if options.diff:
            _write(found.diff())
        elif options.check:
            if found.changed:
                say(found.name)
        elif path == "-":
            _write(found.text)
        elif found.changed:
            return _replace(path, found.text)
        return HAS_ERRORS if found.changed and (options.check or options.diff) else FINE

    paths = list(programs(options.files))
    if not paths:
        complain("there are no programs (*.axon) in these folders")
        return WRONG_USAGE
    return for_each(paths, format_one)


def _replace(path: str, text: str) -> int:
    try:
        if not os.access(path, os.W_OK):
            raise Unwritable(f"{path} may not be written: permission denied")
        write_page(path, text, {})
    except Unwritable as problem:
        complain(str(problem))
        return WRONG_USAGE
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
