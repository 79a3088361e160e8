"""Runs of equal lines: one right after another, or calls of one function of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.importers.steps import Called
from axon.importers.writing.line_forms import form, operands, wiring
from axon.importers.writing.periodicity import Repeat
from axon.importers.writing.writer import Line, Writer

SHORTEST_CALL = 2


@dataclass(frozen=True, slots=True)
class LayerRun:
    """Groups of lines of one length that differ only in tensors and are wired alike. If they are
    calls of a function of the model, `name` is its name, and `parameters` are the names that it has
    for the tensors of the first call.
    """

    starts: list[int]
    length: int
    name: str = ""
    parameters: dict[str, str] = field(default_factory=dict)

    def copies(self, body: list[Line]) -> list[list[Line]]:
        return [body[at : at + self.length] for at in self.starts]


# --- right after themselves ------------------------------------------------------------------


def of_repeat(writer: Writer, body: list[Line], repeat: Repeat) -> LayerRun:
    """The most layers of a repeat that are wired alike."""
    first, period = _aligned(writer, body, repeat), repeat.period
    starts = list(range(first, repeat.end - period + 1, period))
    wired = [wiring(writer, body[at : at + period]) for at in starts]
    best, at = (0, 0), 0
    while at < len(wired):
        end = at
        while end < len(wired) and wired[end] == wired[at]:
            end += 1
        best = max(best, (end - at, -at))
        at = end
    length, at = best[0], -best[1]
    return LayerRun(starts[at : at + length], period)


def _aligned(writer: Writer, body: list[Line], repeat: Repeat) -> int:
    """Where layers begin: where the fewest tensors go from one to the next."""
    start, period = repeat.start, repeat.period
    last: dict[str, int] = {}
    for i, line in enumerate(body[start : start + 3 * period], start):
        for operand in operands(writer, line):
            last[operand] = i
    best = (10**9, 0)
    for at in range(start, min(start + period, repeat.end - 2 * period) + 1):
        made = [name for line in body[at : at + period] for name in line.names]
        width = sum(last.get(name, -1) >= at + period for name in made)
        best = min(best, (width, at))
    return best[1]


# --- calls of a function ---------------------------------------------------------------------


def of_calls(writer: Writer, body: list[Line], calls: list[Called]) -> Iterator[LayerRun]:
    """Calls of one function that are alike. Those that are not are so many functions."""
    places = {name: at for at, line in enumerate(body) for name in line.names if name}
    groups: dict[str, list[tuple[int, int, Called]]] = {}
    for call in calls:
        found = _lines_of(writer, places, call)
        if found is not None:
            start, length = found
            copy = body[start : start + length]
            key = repr(([form(writer, line) for line in copy], wiring(writer, copy)))
            groups.setdefault(key, []).append((start, length, call))
    for group in groups.values():
        if len(group) > 1:
            start, length, call = group[0]
            yield LayerRun([at for at, _, _ in group], length, call.name, call.parameters)


def _lines_of(writer: Writer, places: dict[str, int], call: Called) -> tuple[int, int] | None:
    """Where the lines of a call begin, and how many they are, if nothing else is among them."""
    aliases = writer.importer.aliases
    found = {places[aliases[n]] for n in call.names if aliases.get(n) in places}
    if len(found) < SHORTEST_CALL or max(found) - min(found) + 1 != len(found):
        return None
    return min(found), len(found)
