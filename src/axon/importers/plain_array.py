"""As much of an array as inference asks for, without an array library."""

from __future__ import annotations

from typing import Any


class PlainArray:
    """Elements in their order, and their bytes."""

    __slots__ = ("_data", "_values", "shape")

    def __init__(self, shape: tuple[int, ...], values: tuple[Any, ...], data: bytes) -> None:
        self.shape = shape
        self._values = values
        self._data = data

    def ravel(self) -> PlainArray:
        return self

    def tolist(self) -> list[Any]:
        return list(self._values)

    def tobytes(self) -> bytes:
        return self._data
