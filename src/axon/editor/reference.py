"""What the reference says of an operator."""

from __future__ import annotations

from functools import cache

from axon.ops import OPERATORS
from axon.ops.operator import Operator


@cache
def _signature(name: str) -> str:
    from axon.ops.reference import plain_signature

    return plain_signature(OPERATORS[name])


def operator_signature(operator: Operator) -> str:
    """The signature without attributes."""
    return _signature(operator.name)


def operator_text(operator: Operator) -> str:
    """The documentation, the attributes with their defaults, and the examples."""
    return _text(operator.name)


@cache
def _text(name: str) -> str:
    from axon.ops.reference import entry

    operator = OPERATORS[name]
    found = entry(operator)
    parts = [found.text]
    if operator.attributes:
        parts.append("Attributes: " + ", ".join(f"`{a}`" for a in attributes_of(operator)) + ".")
    shown = "\n".join(f">>> {call}\n{expected}" for call, expected in found.examples[:3])
    if shown:
        parts.append(f"```axon\n{shown}\n```")
    return "\n\n".join(parts)


def attributes_of(operator: Operator) -> list[str]:
    """`axis=-1` for each attribute, the name alone for those without a default."""
    return [
        name
        if name in operator.required or operator.defaults[name] is None
        else f"{name}={written(operator.defaults[name])}"
        for name in operator.attributes
    ]


def written(value: object) -> str:
    """A value of an attribute as a program has it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case (only,):
            return written(only)
        case tuple():
            return f"[{', '.join(map(written, value))}]"
        case _:
            return str(value)
