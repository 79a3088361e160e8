"""`axon fmt`: programs in their canonical form."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from axon.cli.files import for_each
from axon.cli.out import complain, print_diagnostics, say
from axon.cli.status import FINE, HAS_ERRORS
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
        elif options.check and found.changed:
            say(found.name)
        elif not options.check and path == "-":
            _write(found.text)
        if not found.changed:
            return FINE
        if options.check or options.diff:
            return HAS_ERRORS
        if path != "-":
            _replace(path, found.text)
            say(f"formatted {path}")
        return FINE

    return for_each([program for path in options.files for program in _programs(path)], format_one)


def _programs(path: str) -> Iterator[str]:
    """A file itself; the programs in a folder, but for hidden ones."""
    if path == "-" or not os.path.isdir(path):
        yield path
        return
    some = False
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".axon") and not name.startswith("."):
                some = True
                yield os.path.join(folder, name)
    if not some:
        complain(f"{path} has no programs (.axon) in it")


def _replace(path: str, text: str) -> None:
    if not os.access(path, os.W_OK):
        raise Unwritable(f"{path} may not be written: permission denied")
    write_page(path, text, {})


def _write(text: str) -> None:
    """A text as it is, whatever the encoding of the terminal."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    stream.write(text.encode("utf-8"))
    stream.flush()
