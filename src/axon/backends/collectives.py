"""What devices send each other in a compiled program, read off its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")

_LINE = re.compile(
    rf"= (?P<result>\(.*?\)|\S+) (?P<kind>{'|'.join(KINDS)})(?P<part>-start|-done)?\("
)
_ARRAY = re.compile(r"(?P<elem>pred|[a-z]+\d+)[a-z0-9]*\[(?P<sizes>[\d,]*)\]")


@dataclass(frozen=True, slots=True)
class Collective:
    """An operation between devices, and the bytes of its result on one device. In a loop it runs
    once for each turn, and counts once.
    """

    kind: str
    bytes: int


def collectives(text: str) -> Iterator[Collective]:
    """Those of a program in XLA's text. One that is begun and ended in two places counts once."""
    for line in text.splitlines():
        found = _LINE.search(line)
        if found is None or found["part"] == "-done":
            continue
        arrays = [_bytes(array) for array in _ARRAY.finditer(found["result"])]
        if found["part"]:  # its result begins with what is sent
            arrays = arrays[len(arrays) // 2 :]
        yield Collective(found["kind"], sum(arrays))


def _bytes(array: re.Match[str]) -> int:
    bits = re.search(r"\d+", array["elem"])
    each = 8 if bits is None else int(bits[0])
    return prod(int(size) for size in array["sizes"].split(",") if size) * each // 8
