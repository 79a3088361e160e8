"""Operators as text for a terminal."""

from __future__ import annotations

from axon.ops.reference import Entry

WIDTH = 100


def page(entry: Entry) -> str:
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


def listed(entries: list[Entry], by_place: bool) -> str:
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
