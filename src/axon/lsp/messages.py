"""What goes wrong with a message, and reading its parameters."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_FAILED = -32803
CANCELLED = -32800


class Wrong(Exception):
    """An answer that is an error."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def failure(id: object, code: int, text: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}


def success(id: object, result: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def is_id(id: object) -> bool:
    return isinstance(id, str | int) and not isinstance(id, bool)


class Params:
    """The parameters of a message. What is asked for and is not there, or is something else, is an
    error that names it.
    """

    def __init__(self, value: object, name: str = "params") -> None:
        self.value = value
        self.name = name

    def __getitem__(self, key: str) -> Params:
        if not isinstance(self.value, dict):
            raise Wrong(INVALID_PARAMS, f"`{self.name}` is not an object")
        if key not in self.value:
            raise Wrong(INVALID_PARAMS, f"`{self.name}` has no `{key}`")
        return Params(self.value[key], f"{self.name}.{key}")

    def get(self, *keys: str) -> Any:
        """A part that may be missing; None then."""
        value = self.value
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def has(self, key: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(key) is not None

    @property
    def text(self) -> str:
        if not isinstance(self.value, str):
            raise Wrong(INVALID_PARAMS, f"`{self.name}` is not a string")
        return self.value

    @property
    def number(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise Wrong(INVALID_PARAMS, f"`{self.name}` is not a whole number")
        if not -(1 << 31) <= self.value < 1 << 32:
            raise Wrong(INVALID_PARAMS, f"`{self.name}` is too large")
        return self.value

    @property
    def items(self) -> list[Params]:
        if not isinstance(self.value, list):
            raise Wrong(INVALID_PARAMS, f"`{self.name}` is not a list")
        return [Params(each, f"{self.name}[{at}]") for at, each in enumerate(self.value)]

    @property
    def position(self) -> tuple[int, int]:
        line, column = self["line"].number, self["character"].number
        if line < 0 or column < 0:
            raise Wrong(INVALID_PARAMS, f"`{self.name}` is negative")
        return line, column
