"""What Python's own tools say about programs and functions: `help`, `inspect.signature`."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable
from typing import Any

from axon.inference.environment import Parameters
from axon.inference.report.signature import Signature


class OwnText:
    """A docstring that each object computes for itself; the class has a text of its own."""

    def __init__(self, text: str, of: Callable[[Any], str]) -> None:
        self._text = text
        self._of = of

    def __get__(self, instance: Any, owner: type | None = None) -> str:
        return self._text if instance is None else self._of(instance)


class OwnSignature:
    """The signature of each object, for `inspect.signature`; the class has that of its
    constructor.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return python_signature(instance.params, instance.described, instance.definition.function)


class Default:
    """A default, shown as the program has it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _defaults(function: Parameters | None) -> dict[str, Default]:
    if function is None:
        return {}
    found = dict.fromkeys(function.defaults, Default("…"))
    return found | {name: Default(each.span.text) for name, each in function.literals.items()}


def python_signature(
    params: tuple[str, ...], described: Signature, function: Parameters | None
) -> inspect.Signature:
    """The parameters with their types as annotations, and their defaults. A name that Python cannot
    write is changed, and arguments are then given by position.
    """
    defaults = _defaults(function)
    plain = len(set(params)) == len(params) and all(map(_is_name, params))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if plain else inspect.Parameter.POSITIONAL_ONLY
    types: list[Any] = [type_ for _, type_ in described.params]
    types = types or [inspect.Parameter.empty] * len(params)
    listed: dict[str, inspect.Parameter] = {}
    for param, annotation in zip(params, types, strict=True):
        name = param if _is_name(param) else _changed(param)
        while name in listed:
            name += "_"
        default = defaults.get(param, inspect.Parameter.empty)
        listed[name] = inspect.Parameter(name, kind, default=default, annotation=annotation)
    result = described.result or inspect.Signature.empty
    return inspect.Signature([*listed.values()], return_annotation=result)


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _changed(param: str) -> str:
    name = re.sub(r"\W", "_", param)
    return name if _is_name(name) else f"{name}_"
