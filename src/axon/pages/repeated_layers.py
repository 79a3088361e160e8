"""Layers that repeat in a list of operations, one right after the other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from axon.importers.naming import word_of_layer
from axon.importers.operations import Operation
from axon.importers.writing.periodicity import Repeat, find_repeats


@dataclass(frozen=True, slots=True)
class Layers:
    """From `start` on there are `count` layers, each of so many operations."""

    start: int
    length: int
    count: int
    name: str

    @property
    def end(self) -> int:
        return self.start + self.length * self.count


def repeated_layers(operations: Sequence[Operation], kinds: Sequence[Hashable]) -> list[Layers]:
    """Layers that do not overlap, in order. Operations of one kind may be alike; the layers are,
    where they are wired alike too.
    """
    numbers: dict[Hashable, int] = {}
    tokens = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
    found: list[Layers] = []
    taken = [False] * len(operations)
    for repeat in find_repeats(tokens):
        best = _best(operations, repeat)
        if best is not None and not any(taken[best.start : best.end]):
            taken[best.start : best.end] = [True] * (best.end - best.start)
            found.append(best)
    return sorted(found, key=lambda layers: layers.start)


def _best(operations: Sequence[Operation], repeat: Repeat) -> Layers | None:
    """Where the layers begin is chosen by how little they hand on to the next."""
    period = repeat.period
    best: tuple[int, Layers] | None = None
    for shift in range(min(period, repeat.end - repeat.start - 2 * period + 1)):
        start = repeat.start + shift
        count = (repeat.end - start) // period
        count = _wired_alike(operations, start, period, count)
        if count < 2:
            continue
        named = _named(operations, start, period)
        handed = len(_handed(operations, start, period))
        score = -count * 1000 + handed * 10 - (5 if named[1] else 0)
        if best is None or score < best[0]:
            best = score, Layers(start, period, count, named[0])
    return None if best is None else best[1]


def _wired_alike(operations: Sequence[Operation], start: int, period: int, count: int) -> int:
    """How many copies take the same from themselves, and all but the first from the one before."""
    ends = range(start, start + period * (count + 1), period)
    copies = [operations[at : at + period] for at in ends[:-1]]
    inner = _wiring(copies[0], ())
    between = _wiring(copies[1], copies[0]) if count > 1 else []
    for number in range(1, count):
        if _wiring(copies[number], ()) != inner:
            return number
        if _wiring(copies[number], copies[number - 1]) != between:
            return number
    return count


def _wiring(
    copy: Sequence[Operation], before: Sequence[Operation]
) -> list[list[tuple[int, int] | None]]:
    """Where each input is made: the place of the operation, negative if it is one before."""
    made: dict[str, tuple[int, int]] = {}
    for at, operation in enumerate(before):
        made.update({name: (at - len(before), i) for i, name in enumerate(operation.outputs)})
    found: list[list[tuple[int, int] | None]] = []
    for at, operation in enumerate(copy):
        found.append([made.get(name) if name else None for name in operation.inputs])
        made.update({name: (at, i) for i, name in enumerate(operation.outputs) if name})
    return found


def _handed(operations: Sequence[Operation], start: int, period: int) -> set[str]:
    """What the second layer takes from the first."""
    made = {n for o in operations[start : start + period] for n in o.outputs if n}
    return {
        n for o in operations[start + period : start + 2 * period] for n in o.inputs if n in made
    }


def _named(operations: Sequence[Operation], start: int, period: int) -> tuple[str, bool]:
    """The word before the number in which the names of the first two layers differ, and whether
    the name of every operation has it.
    """
    words: list[str] = []
    for at in range(start, start + period):
        word = word_of_layer(_path(operations[at]), _path(operations[at + period]))
        if word:
            words.append(word)
    usual = max(set(words), key=words.count, default="layer")
    return usual[:24], len(words) == period and words.count(usual) == period


def _path(operation: Operation) -> str:
    """Where an operation is in the model, as words with dots."""
    if operation.place is not None and operation.place.module:
        return f"{operation.place.module}."
    return operation.label
