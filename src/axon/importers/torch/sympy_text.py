"""Sizes as the exporter writes them: as SymPy's text, `Mul(Integer(2), Symbol('s77'))`.

They are parsed, and never evaluated as Python. What is not arithmetic on sizes is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from axon.importers.operations import Arithmetic, Size

LONGEST = 20_000
"""Characters of an expression that is read."""
DEEPEST = 100
TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(-?\d+(?:\.\d*)?)|'([^'\\]*)'|([(),=]))")
INFIX = {
    "Add": "+", "Mul": "*", "FloorDiv": "//", "CleanDiv": "//", "Mod": "mod", "PythonMod": "mod",
    "Max": "max", "Min": "min",
}  # fmt: skip
PAIRS = frozenset({"//", "mod"})
"""Operators of just two arguments."""


class _NoSize(Exception):
    """The text is no arithmetic on sizes."""


@lru_cache(4096)
def size_of(text: str) -> Size | None:
    """The size that an expression is; None if Axon has no words for it."""
    if len(text) > LONGEST:
        return None
    tokens = _tokens(text)
    try:
        found = _expression(tokens, 0)
        return found if next(tokens, None) is None else None
    except (_NoSize, StopIteration):
        return None


def _tokens(text: str) -> Iterator[str]:
    """Words, numbers and brackets; the text of a string begins with a quote."""
    at, end = 0, len(text.rstrip())
    while at < end:
        found = TOKEN.match(text, at)
        if found is None:
            raise _NoSize
        at = found.end()
        word, number, string, sign = found.groups()
        yield word or number or sign or f"'{string}"


def _expression(tokens: Iterator[str], depth: int) -> Size:
    name = next(tokens)
    if depth > DEEPEST or next(tokens) != "(":
        raise _NoSize
    if name in ("Symbol", "Integer"):
        found = next(tokens)
        while next(tokens) != ")":  # what SymPy assumes of a symbol
            pass
        if name == "Integer":
            if not re.fullmatch(r"-?\d{1,30}", found):
                raise _NoSize
            return int(found)
        if not re.fullmatch(r"'\w+", found):
            raise _NoSize
        return found[1:]
    operator = INFIX.get(name)
    if operator is None:
        raise _NoSize
    parts = [_expression(tokens, depth + 1)]
    while (sign := next(tokens)) == ",":
        parts.append(_expression(tokens, depth + 1))
    if sign != ")" or len(parts) < 2 or (operator in PAIRS and len(parts) > 2):
        raise _NoSize
    found_ = parts[0]
    for part in parts[1:]:
        found_ = Arithmetic(operator, found_, part)
    return found_
