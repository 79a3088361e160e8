"""`axon ops`: the reference of operators, with search."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from axon.cli.out import complain, say, say_json, wrong
from axon.cli.status import FINE, WRONG_USAGE

if TYPE_CHECKING:
    from axon.ops.reference import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME|WORDS",
        nargs="*",
        help="an operator, by its name or sign, or words to search for; without, the list of all",
    )
    parser.add_argument("--search", action="store_true", help="search, even if there is that name")
    parser.add_argument("--json", action="store_true", help="the entries as JSON")


def run(options: argparse.Namespace) -> int:
    from axon.reference.operators import close_names, every_name, find, search
    from axon.reference.text import listed, page

    wanted = " ".join(options.name)
    if options.search and not wanted:
        return wrong("--search needs words to search for")
    exact = find(wanted) if wanted and not options.search else None
    if exact is not None:
        entries = [exact]
    elif wanted:
        entries = search(wanted)
    else:
        entries = [entry for name in every_name() if (entry := find(name)) is not None]
    if options.json:
        say_json({"operators": [_document(entry) for entry in entries]})
    elif exact is not None:
        say(page(exact))
    elif entries:
        say(listed(entries, by_place=not wanted))
    if entries:
        return FINE
    close = " or ".join(f"`{name}`" for name in close_names(wanted))
    complain(f"no operator is called `{wanted}`" + (f"; did you mean {close}?" if close else ""))
    return WRONG_USAGE


def _document(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.name,
        "signature": entry.signature,
        "text": entry.text,
        "place": entry.place,
        "sign": entry.sign or None,
        "attributes": [
            {"name": name, "required": default is None, "default": default or None}
            for name, default in entry.attributes
        ],
        "examples": [{"call": call, "result": result} for call, result in entry.examples],
    }
