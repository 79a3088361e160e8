"""Whether an input is complete, and what of it is a word of which kind; by its tokens alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axon.source import Source
from axon.syntax.lexer import lex
from axon.syntax.tokens import CLOSER, ELEMENT_TYPES, INFIX_LEVEL, OPENER, RESERVED

COMMAND = re.compile(r"\s*:([A-Za-z]+|\?)(?:\s+|$)")

_GOES_ON = frozenset({*INFIX_LEVEL, "=", ",", "->", "|>", ":", "|", "not", "else", "fn", "if"})
"""What something has to follow."""


def is_complete(text: str) -> bool:
    """Whether nothing has to follow: brackets are closed, and no definition lacks its end."""
    command = COMMAND.match(text)
    if command is not None:
        text = text[command.end() :]
        if not text.strip():
            return True
    kinds = lex(Source("session", text))[0].kinds[:-1]
    depth = 0
    bodies = 0
    """How many blocks are still to come: that of a `fn`, the two of an `if`."""
    for at, kind in enumerate(kinds):
        if kind in CLOSER:
            bodies -= kind == "{" and depth == 0 and bodies > 0
            depth += 1
        elif kind in OPENER:
            depth -= 1
            if depth < 0:
                return True  # an error, which the parser tells
        elif depth == 0 and kind == "fn":
            bodies += 1
        elif depth == 0 and kind == "if":
            bodies += 1 if at and kinds[at - 1] == "else" else 2
        elif depth == 0 and kind == ";":
            bodies = 0
    return depth == 0 and bodies == 0 and not (kinds and kinds[-1] in _GOES_ON)


def words(text: str) -> Iterator[tuple[int, int, str]]:
    """The parts of a text that are shown in a colour: from, to, and which kind."""
    command = COMMAND.match(text)
    start = 0
    if command is not None:
        yield command.start(1) - 1, command.end(1), "command"
        start = command.end()
    tokens, _ = lex(Source("session", text[start:]))
    found = [(span.start, span.end, "comment") for span in tokens.comments]
    for at, kind in enumerate(tokens.kinds[:-1]):
        word = tokens.text(at)
        following = tokens.kinds[at + 1]
        name = _kind(kind, word, following)
        if name:
            found.append((tokens.starts[at], tokens.ends[at], name))
    for begin, end, name in sorted(found):
        yield start + begin, start + end, name


def _kind(kind: str, word: str, following: str) -> str:
    if kind in RESERVED:
        return "number" if kind in ("true", "false", "inf", "None") else "keyword"
    if kind == "name":
        if word in ELEMENT_TYPES:
            return "type"
        if word in ("op", "import") and following in ("name", "string"):
            return "keyword"
        return "call" if following == "(" else "definition" if following == "=" else ""
    if kind in ("int", "float"):
        return "number"
    if kind in ("string", "field", "bad"):
        return kind
    return "type" if kind == "runtime" else ""
