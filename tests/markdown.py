"""The fenced code blocks of a Markdown text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)")


@dataclass(frozen=True, slots=True)
class Block:
    """Opened by "```tag key=value": the tag, the settings, the text and the line of its opening."""

    tag: str
    text: str
    line: int
    settings: dict[str, str] = field(default_factory=dict)


def blocks(markdown: str) -> Iterator[Block]:
    """Every fenced block; one that is never closed goes on to the end, as in CommonMark."""
    lines = enumerate(markdown.splitlines(), start=1)
    for number, line in lines:
        opening = _FENCE.fullmatch(line)
        if opening is None:
            continue
        tag, *settings = opening["info"].split() or [""]
        body: list[str] = []
        for _, inner in lines:
            if _closes(inner, opening["fence"]):
                break
            body.append(_unindented(inner, len(opening["indent"])) + "\n")
        pairs = (setting.partition("=") for setting in settings)
        yield Block(tag, "".join(body), number, {key: value for key, _, value in pairs})


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and set(mark) == {fence[0]}


def _unindented(line: str, width: int) -> str:
    return line[width:] if not line[:width].strip() else line.lstrip()
