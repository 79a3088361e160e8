"""Signatures that are the same up to the names of variables."""

from __future__ import annotations

import re

from axon.types.elements import BIT

_TOKEN = re.compile(r"[A-Za-z_]\w*'*|\d+|->|>=|<=|\S")
_WORDS = "where broadcast max min mod size rank shape dim either num float int"
_KEPT = frozenset((*_WORDS.split(), *BIT))


def same_types(left: str, right: str) -> bool:
    """Whether two printed signatures differ in the names of their variables only."""
    return _canonical(left) == _canonical(right)


def has_classes(text: str) -> bool:
    """Whether the conditions of a printed signature name classes of elements: `t : float`."""
    return re.search(r"[\w']+ ?: ?(num|float|int|bool)\b", text.partition("where")[2]) is not None


def _canonical(text: str) -> list[str]:
    """The tokens, with variables numbered in the order in which they appear."""
    tokens = _TOKEN.findall(text)
    numbers: dict[str, str] = {}
    found: list[str] = []
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        is_name = token[0].isalpha() or token[0] == "_"
        is_field = depth > 0 and after == ":"
        if is_name and not is_field and token not in _KEPT:
            found.append(numbers.setdefault(token, f"variable {len(numbers)}"))
        else:
            found.append(token)
    return found
