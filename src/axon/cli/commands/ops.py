"""`axon ops`: the reference of operators, with search."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from axon.cli.out import complain, say, say_json, wrong
from axon.cli.status import FINE, WRONG_USAGE

if TYPE_CHECKING:
    from axon.ops.reference import Entry

WIDTH = 100


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
        say(_page(exact))
    elif entries:
        say(_listed(entries, by_place=not wanted))
    if entries:
        return FINE
    close = " or ".join(f"`{name}`" for name in close_names(wanted))
    complain(f"no operator is called `{wanted}`" + (f"; did you mean {close}?" if close else ""))
    return WRONG_USAGE


def _page(entry: Entry) -> str:
    """All about one operator."""
    lines = [f"{entry.name} : {entry.signature}"]
    if entry.sign and entry.sign != entry.name:
        lines.append(f"written `x {entry.sign} y`" if entry.sign != "not" else "written `not x`")
    lines += ["", entry.text] if entry.text else []
    if entry.attributes:
        lines += ["", "attributes:"]
        for name, default in entry.attributes:
            match default:
                case None:
                    lines.append(f"  {name}  must be given")
                case "":
                    lines.append(f"  {name}  none by default")
                case _:
                    lines.append(f"  {name}={default}")
    if entry.examples:
        lines.append("")
        for call, result in entry.examples:
            lines += [f"  {call}", f"    {result}"]
    if entry.place.endswith(".axon"):
        lines += ["", f"in the standard library, {entry.place}"]
    return "\n".join(lines)


def _listed(entries: list[Entry], by_place: bool) -> str:
    """A line for each."""
    width = min(max((len(entry.name) for entry in entries), default=0), 24)
    lines: list[str] = []
    place = ""
    for entry in entries:
        if by_place and entry.place != place:
            place = entry.place
            lines += [*([""] if lines else []), place]
        line = f"  {entry.name:<{width}}  {entry.summary}".rstrip()
        lines.append(line if len(line) <= WIDTH else f"{line[: WIDTH - 1].rstrip()}…")
    return "\n".join(lines)


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
