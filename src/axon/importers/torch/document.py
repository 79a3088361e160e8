"""A JSON document, read place by place. What a place does not have is said with its path,
`graph_module.graph.nodes[3].target is not text`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

LONGEST_KEY = 80
"""Characters of a key that a path shows."""
PLAIN_KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)
SPECIAL = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
"""Numbers that JSON has no signs for."""


class WrongDocument(Exception):
    """A place of a document does not have what its format has there: the sentence says which."""


class Document:
    """A value in a document, and the way to it. The key of a whole document is its file."""

    __slots__ = ("key", "parent", "value")

    def __init__(self, value: Any, key: str | int, parent: Document | None = None) -> None:
        self.value = value
        self.key = key
        self.parent = parent

    def wrong(self, what: str) -> WrongDocument:
        """An error about this place: `what` goes on with the sentence."""
        steps: list[str] = []
        at = self
        while at.parent is not None:
            steps.append(_step(at.key))
            at = at.parent
        path = "".join(reversed(steps)).removeprefix(".")
        return WrongDocument(f"`{path}` in {at.key} {what}" if path else f"{at.key} {what}")

    # --- parts ---

    def __getitem__(self, key: str) -> Document:
        return Document(self._part(key), key, self)

    def _part(self, key: str) -> Any:
        if not isinstance(self.value, dict):
            raise self.wrong("is not an object")
        if key not in self.value:
            raise self.wrong(f"has no {key}")
        return self.value[key]

    def find(self, *keys: str | int) -> Document | None:
        """A part that may be missing, or be null, and so may all that it is in."""
        found = self
        for key in keys:
            value = found.value
            if isinstance(value, dict):
                part = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
                part = value[key]
            else:
                return None
            if part is None:
                return None
            found = Document(part, key, found)
        return found

    def entries(self) -> Iterator[tuple[str, Document]]:
        """The keys of an object with their values."""
        if not isinstance(self.value, dict):
            raise self.wrong("is not an object")
        for key, value in self.value.items():
            yield key, Document(value, key, self)

    def items(self) -> list[Document]:
        if not isinstance(self.value, list):
            raise self.wrong("is not a list")
        return [Document(value, i, self) for i, value in enumerate(self.value)]

    def case(self) -> tuple[str, Document]:
        """The key and the value of an object that has just one: which of some kinds it is."""
        if not isinstance(self.value, dict):
            raise self.wrong("is not an object")
        if len(self.value) != 1:
            raise self.wrong(f"has {len(self.value)} keys; it must have one, which names its kind")
        ((key, value),) = self.value.items()
        return key, Document(value, key, self)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    # --- values ---

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("is not text")
        return self.value

    def text_of(self, key: str) -> str:
        """The same as `self[key].text()`, which most of a document is read by."""
        value = self._part(key)
        return value if isinstance(value, str) else self[key].text()

    def text_if_any(self, key: str) -> str:
        """The text of a part that may be missing, or be null; empty then."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return "" if value is None else self.text_of(key)

    def integer(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("is not a whole number")
        return self.value

    def number(self) -> float:
        """A number as a float; those that JSON does not have are written as text."""
        found = SPECIAL.get(self.value) if isinstance(self.value, str) else self.value
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise self.wrong("is not a number")
        try:
            return float(found)
        except OverflowError:
            raise self.wrong("is too large a number") from None

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("is not true or false")
        return self.value

    def embedded(self) -> Document:
        """The document that a text holds."""
        text = self.text()
        try:
            return Document(json.loads(text), self.key, self.parent)
        except (ValueError, RecursionError):
            raise self.wrong("is not JSON that can be read") from None


def _step(key: str | int) -> str:
    """How a path goes on to a part."""
    if isinstance(key, int):
        return f"[{key}]"
    if PLAIN_KEY.fullmatch(key) and len(key) <= LONGEST_KEY:
        return f".{key}"
    return f"[{json.dumps(key[:LONGEST_KEY])}]"
