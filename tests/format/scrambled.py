"""A program written otherwise: the same tokens with other blanks, line breaks and comments."""

from __future__ import annotations

from random import Random

from axon.source import Source
from axon.syntax.lexer import lex

_OPERAND_ENDS = frozenset({")", "]", "}", "name", "field", "int", "float", "string", "true", "inf"})
_TOUCHING = frozenset({"(", "name"})


def scrambled(text: str, random: Random, breaks: float, comments: float) -> str:
    """The tokens of a program, with its comments left out. `breaks` and `comments` say how likely
    each is between two tokens.

    Where a line break has a meaning there is none: before the `[` or `(` behind an operand, and
    before `NAME =`. What touches goes on doing so: `Block(d)`, `*k`.
    """
    tokens, problems = lex(Source("scrambled", text))
    assert not problems.count
    kinds = tokens.kinds
    pieces: list[str] = []
    for at, kind in enumerate(kinds[:-1]):
        touching = at > 0 and tokens.ends[at - 1] == tokens.starts[at]
        free = kind not in ("[", "(") or kinds[at - 1] not in _OPERAND_ENDS
        if kind == "name" and kinds[at + 1] in ("=", ","):
            free = kinds[at - 1] in ("(", "{", ",", ";") and at > 0
        if not (touching and kind in _TOUCHING):
            pieces.append(_between(random, breaks if free else 0, comments if free else 0))
        pieces.append(tokens.text(at))
    pieces.append(_between(random, breaks, comments))
    return "".join(pieces) + "\n"


def _between(random: Random, breaks: float, comments: float) -> str:
    if random.random() < comments:
        made = [f"# {random.randrange(1000)}" for _ in range(random.choice((1, 1, 1, 2)))]
        before = random.choice((" ", "\n", "\n\n  ", "  "))
        return (
            before
            + random.choice(("\n", "\n  ", "\n\n")).join(made)
            + "\n"
            + " " * random.randrange(4)
        )
    if random.random() < breaks:
        return random.choice(("\n", "\n    ", "\n\n", "\n \n\n  "))
    return random.choice((" ", " ", "  "))
