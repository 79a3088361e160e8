"""Transcripts of sessions in the documentation: what is typed, and what is shown below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_REPL = re.compile(r"^axon> ", re.MULTILINE)
_NOTEBOOK = re.compile(r"^In \[\d+\]: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Typed:
    """One input, and the text that it should show."""

    text: str
    shown: str


def repl(text: str) -> Iterator[Typed]:
    """The inputs after `axon> `; their further lines are after `  ... `."""
    return _split(text, _REPL, "  ... ")


def cells(text: str) -> Iterator[Typed]:
    """The cells after `In [1]: `; their further lines are after `   ...: `."""
    return _split(text, _NOTEBOOK, "   ...: ")


def _split(text: str, prompt: re.Pattern[str], goes_on: str) -> Iterator[Typed]:
    before, *parts = prompt.split(text)
    assert not before.strip(), f"a transcript begins with a prompt, and not with {before!r}"
    for part in parts:
        first, *more = part.rstrip("\n").split("\n")
        typed = [first]
        while more and more[0].startswith(goes_on.rstrip()):
            typed.append(more.pop(0)[len(goes_on) :])
        yield Typed("\n".join(typed), "\n".join(more).strip("\n"))
