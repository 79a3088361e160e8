"""The names in generated code: each is assigned once, and may refer to an object."""

from __future__ import annotations

import keyword
import re
from typing import Any


class Names:
    """`objects` are the values of the names that the code does not define."""

    def __init__(self, **objects: Any) -> None:
        self.objects: dict[str, Any] = objects
        self._known: dict[object, str] = {}
        self._taken: set[str] = set(objects)

    def fresh(self, hint: str) -> str:
        """An unused name, like the hint where that can be a name. Python reserves names that begin
        with two underscores (`__debug__`, `__builtins__`), and keywords.
        """
        base = re.sub(r"\W", "_", hint) or "v"
        base = f"v{base}" if base.startswith("__") else base
        if not base.isascii() or keyword.iskeyword(base) or base[0].isdigit():
            base = "v"
        name = base
        number = len(self._taken)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def constant(self, value: object, hint: str, key: object = None) -> str:
        """A name for an object; objects with equal keys share one."""
        known = self._known.get(key) if key is not None else None
        if known is None:
            known = self.fresh(hint)
            self.objects[known] = value
            if key is not None:
                self._known[key] = known
        return known
