"""Whether two programs are the same but for the places of their parts."""

from __future__ import annotations

from typing import Any

from axon.syntax.ast import Program, String


def same(one: Program, other: Program) -> bool:
    """The same tree, and the same comments. A loop, since a chain of operators may be long."""
    if [span.text for span in one.comments] != [span.text for span in other.comments]:
        return False
    waiting: list[tuple[Any, Any]] = [(one.items, other.items), (one.result, other.result)]
    while waiting:
        a, b = waiting.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, tuple):
            if len(a) != len(b):
                return False
            waiting.extend(zip(a, b, strict=True))
        elif isinstance(a, String):
            if a.span.text != b.span.text:
                return False
        elif names := getattr(a, "__match_args__", None):
            waiting.extend((getattr(a, n), getattr(b, n)) for n in names if "span" not in n)
        elif a != b:
            return False
    return True
