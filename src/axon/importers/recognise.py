"""Which format a file is in: by the ending of its name, or by how it begins."""

from __future__ import annotations

import os

ONNX, TORCH = "onnx", "torch"
ENDINGS = {".onnx": ONNX, ".pt2": TORCH}
"""The formats by the endings of their files."""
ZIP = b"PK\x03\x04"
"""How a zip file begins, and no program does."""


def by_ending(path: str) -> str | None:
    return ENDINGS.get(os.path.splitext(path)[1].lower())


def format_of(path: str) -> str | None:
    """The format of the model that a file should be; None for a program."""
    return by_ending(path) or (TORCH if _begins_as_zip(path) else None)


def is_model(path: str) -> bool:
    """Whether a file is a model rather than a program."""
    return format_of(path) is not None


def _begins_as_zip(path: str) -> bool:
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(ZIP)) == ZIP
    except (OSError, ValueError):
        return False
