"""How sizes are written in a line of a user's source: as numbers, as sizes of tensors, or by names.

An exported program has numbers for all three, and the line that a node came from tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache

SPELLINGS = {
    "_unsafe_view": ("view", "reshape"), "view_copy": ("view",), "expand_copy": ("expand",),
    "expand": ("expand", "repeat", "broadcast_to", "expand_as"), "reshape": ("reshape", "flatten"),
    "_reshape_alias": ("reshape",), "split_with_sizes": ("split", "split_with_sizes"),
    "repeat": ("repeat", "tile"),
}  # fmt: skip
"""What operators of the exporter are called in a program, where that differs."""
OPENING, CLOSING = "([{", ")]}"
LONGEST = 400
MOST_CALLS = 16
NUMBER = re.compile(r"[-+]?\d[\d_]*")
SUM = re.compile(r"\d[\d_]*(\s*(\*|\+|-|//)\s*\d[\d_]*)+")
OF_TENSOR = re.compile(r"(?!self\b)\w+\.(shape\[-?\d+\]|size\(-?\d+\))|len\((?!self\b)\w+\)")


class Spelling(Enum):
    """A number of the author's, a size of a tensor, or something that the line does not tell."""

    NUMBER = "number"
    SIZE = "size"
    UNKNOWN = "unknown"


@lru_cache(4096)
def spelled(text: str, operator: str, sizes: tuple[int | None, ...]) -> tuple[Spelling, ...]:
    """How each of the sizes of an operator is written in a line; None is one that the program
    computes. Where several calls fit they must agree.
    """
    found: list[tuple[Spelling, ...]] = []
    own = operator.removesuffix("_")
    names = ("interpolate",) if own.startswith("upsample") else SPELLINGS.get(own, (own,))
    for name in names:
        for arguments in _calls(text[:LONGEST], name):
            for listed in _lists(arguments, len(sizes)):
                if _fits(listed, sizes):
                    found.append(tuple(map(_spelling, listed)))
    unknown = (Spelling.UNKNOWN,) * len(sizes)
    return tuple(map(_agreed, zip(*found, strict=True))) if found else unknown


def mentions(text: str, number: int) -> bool:
    """Whether a line has a number in it."""
    return re.search(rf"(?<![\w.]){number}(?![\w.])", text[:LONGEST]) is not None


def _agreed(spellings: Sequence[Spelling]) -> Spelling:
    first, *others = spellings
    return first if all(each is first for each in others) else Spelling.UNKNOWN


def _spelling(argument: str) -> Spelling:
    if NUMBER.fullmatch(argument) or SUM.fullmatch(argument):
        return Spelling.NUMBER
    return Spelling.SIZE if OF_TENSOR.fullmatch(argument) else Spelling.UNKNOWN


def _fits(listed: Sequence[str], sizes: Sequence[int | None]) -> bool:
    """Whether numbers in a call are those of the program."""
    return all(
        NUMBER.fullmatch(argument) is None or int(argument) == size
        for argument, size in zip(listed, sizes, strict=True)
    )


def _lists(arguments: list[str], count: int) -> Iterator[list[str]]:
    """The arguments of a call that can be this many sizes: all of them, one that is a list of so
    many, or those behind the first.
    """
    if any(each.startswith("*") for each in arguments):
        return
    listed = [list(_divided(each[1:-1])) for each in map(_value, arguments) if _is_list(each)]
    fitting = [inner for inner in listed if len(inner) == count]
    if fitting:
        yield from fitting
        return
    own = [each for each in arguments if re.match(r"\w+\s*=(?!=)", each) is None]
    for first in (0, 1):
        if len(own) == count + first:
            yield own[first:]


def _value(argument: str) -> str:
    """What is given: `(2, 3)` of `size=(2, 3)`."""
    return re.sub(r"^\w+\s*=(?!=)\s*", "", argument)


def _is_list(argument: str) -> bool:
    return argument[:1] in ("(", "[") and argument[-1:] in (")", "]")


def _calls(text: str, name: str) -> Iterator[list[str]]:
    """The arguments of calls of a name in a line, as they are written."""
    for number, match in enumerate(re.finditer(rf"(?<!\w){re.escape(name)}\(", text)):
        end = _closing(text, match.end())
        if number < MOST_CALLS and end is not None:
            yield list(_divided(text[match.end() : end]))


def _closing(text: str, start: int) -> int | None:
    """Where the bracket closes that was opened before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] in OPENING) - (text[at] in CLOSING)
        if depth == 0:
            return at
    return None


def _divided(text: str) -> Iterator[str]:
    """What stands between the commas that are in no brackets."""
    depth = begin = 0
    for at, sign in enumerate(text):
        depth += (sign in OPENING) - (sign in CLOSING)
        if sign == "," and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:].strip()
