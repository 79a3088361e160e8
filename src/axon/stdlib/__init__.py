"""The standard library: functions written in Axon itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

PREFIX = "std/"
IMPORTED = frozenset({"std/onnx.axon", "std/torch.axon"})
"""What imported models call; nobody writes these by hand."""


@cache
def sources() -> dict[str, str]:
    """Every file of the library, by the path that imports it."""
    folder = Path(__file__).parent
    return {
        f"{PREFIX}{path.name}": path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("*.axon"))
    }


def with_options() -> str:
    """Functions of which importers make one for each choice of their options."""
    return (Path(__file__).parent / "with_options" / "models.axon").read_text(encoding="utf-8")


@cache
def files() -> dict[str, str]:
    """The path of the file that defines a name, for every name of the library."""
    return {
        name: path
        for path, text in sources().items()
        for name in re.findall(r"^(\w+) =", text, re.MULTILINE)
    }


def find(path: str) -> str | None:
    """The text of `std/name.axon`."""
    return sources().get(path) if path.startswith(PREFIX) else None
