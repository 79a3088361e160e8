"""What a grammar made of a program, beside what it should have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from axon.source import Source
from tests.highlight.classes import expected_classes

Piece = tuple[str, str]
"""A class, or the empty string, and the text that has it."""


def differences(source: Source, pieces: Iterable[Piece], by_tree: bool = False) -> Iterator[str]:
    """Each token that has another class. The pieces are the whole text in order."""
    given: list[str] = []
    text: list[str] = []
    for kind, part in pieces:
        given += [kind] * len(part)
        text.append(part)
    assert "".join(text) == source.text, source.name
    for token in expected_classes(source, by_tree):
        found = set(given[token.start : token.end])
        if found != {token.kind}:
            line, column = source.position(token.start)
            word = source.text[token.start : token.end]
            yield f"{source.name}:{line}:{column}: {word!r} is {sorted(found)}, not {token.kind}"
