"""The arguments of a call, in the order of the parameters, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from axon.backends.ragged import RaggedError
from axon.run import values
from axon.run.backend import Backend
from axon.run.errors import ArgumentError
from axon.run.structures import Unfit
from axon.types.type import Type


@dataclass(frozen=True, slots=True)
class Arguments:
    """What the calls of one function are given."""

    name: str
    params: tuple[str, ...]
    wanted: tuple[Type | None, ...]
    backend: Backend

    def arranged(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters."""
        params, name = self.params, self.name
        if len(args) > len(params):
            raise ArgumentError(f"{name} takes {counted(len(params))}, {len(args)} are given")
        given = dict(zip(params, args, strict=False))
        for key, value in named.items():
            if key not in params:
                listed = ", ".join(params) or "none"
                raise ArgumentError(f"{name} has no argument `{key}`: its arguments are {listed}")
            if key in given:
                raise ArgumentError(f"{name}: the argument `{key}` is given twice")
            given[key] = value
        missing = [p for p in params if p not in given]
        if missing:
            listed = ", ".join(f"`{p}`" for p in missing)
            raise ArgumentError(f"{name}: {listed} {'is' if len(missing) == 1 else 'are'} missing")
        return tuple(given[p] for p in params)

    def arrays(self, args: Sequence[Any]) -> list[Any]:
        arrays: list[Any] = []
        all_wanted = values.settled(self.wanted, args)
        tensors = self.backend.name == "torch"
        for name, wanted, arg in zip(self.params, all_wanted, args, strict=True):
            try:
                array = values.take(arg, wanted, tensors)
                values.key(array)
                values.type_at_rank(array)
            except Unfit as unfit:
                part = f"{self.name}: `{name}{unfit.path}`"
                raise ArgumentError(f"{part} cannot be taken: {unfit}") from None
            except RaggedError as problem:
                raise ArgumentError(f"{self.name}: `{name}`: {problem}") from None
            except RecursionError:
                raise ArgumentError(f"{self.name}: `{name}` is nested too deeply") from None
            arrays.append(array)
        place = self.backend.placing(arrays)
        return arrays if place is None else [values.mapped(array, place) for array in arrays]


def counted(count: int) -> str:
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"
