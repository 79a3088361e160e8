"""The weights of a program: operators without arguments, whose values are in a file."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from axon.backends.checks import holds
from axon.diagnostics import Diagnostic, error
from axon.graph.module import Module
from axon.run.errors import ArgumentError
from axon.run.safetensors import Place, Stored
from axon.source import Span
from axon.syntax import ast
from axon.types.show import Show
from axon.types.type import Fn, Scheme, Shape, ShapeEq, Tensor
from axon.types.variables import ShapeVar

MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Weight:
    """The values of an operator without arguments, read when they are asked for. It pickles as the
    values themselves: the file may not be there where they are wanted.
    """

    read: Callable[[], Any]

    def __call__(self) -> Any:
        return self.read()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (numpy.array(self.read()),)


@dataclass(frozen=True, slots=True)
class _Loaded:
    array: Any

    def __call__(self) -> Any:
        return self.array


def _loaded(array: Any) -> Weight:
    return Weight(_Loaded(array))


def weights(module: Module, stored: Stored, known: Container[str]) -> dict[str, Callable[[], Any]]:
    """The values of what a program declares without arguments; `known` need not be in the file.

    Element types and shapes are compared with the declarations. The data is not looked at.
    """
    found: dict[str, Callable[[], Any]] = {}
    problems: list[Diagnostic] = []
    for name, span, type_ in _declared(module):
        place = stored.places.get(name)
        if place is None and name in known:
            continue
        problem = _problem(name, type_, place, stored.path)
        if problem is not None:
            problems.append(error("AX405", problem, span, f"declared `{Show().type(type_)}`"))
        elif name not in found:
            found[name] = Weight(stored.values(name))
    if problems:
        more = len(problems) - MOST_SHOWN
        others = f"; {more} more are wrong" if more > 0 else ""
        message = f"{stored.path} does not fit {module.program.source.name}{others}"
        raise ArgumentError(message, problems[:MOST_SHOWN])
    return found


def _declared(module: Module) -> Iterator[tuple[str, Span, Tensor]]:
    """The operators without arguments that return a tensor, in a program and in its imports."""
    for at, item in enumerate(module.items):
        if not isinstance(item, ast.OpDecl):
            continue
        scheme = module.types[item.name, at].type
        type_ = scheme.type if isinstance(scheme, Scheme) else scheme
        if isinstance(type_, Fn) and not type_.params and isinstance(type_.result, Tensor):
            yield item.name, item.name_span, type_.result
    for other in module.imports.values():
        yield from _declared(other)


def _problem(name: str, type_: Tensor, place: Place | None, path: str) -> str | None:
    """The error in a weight, if any; what a declaration leaves open is not compared."""
    if place is None:
        return f"there is no `{name}` in {path}"
    if place.elem is None:
        return f"`{name}` is {place} in {path}, and {place.kind} is no element type of Axon"
    if isinstance(type_.elem, str) and type_.elem != place.elem:
        return f"`{name}` is {place} in {path}"
    return None if may_be(type_.shape, place.shape) else f"`{name}` is {place} in {path}"


def may_be(shape: Shape, sizes: tuple[int, ...]) -> bool:
    """Whether a declared shape can have these sizes, each item compared with its size."""
    if not any(isinstance(item, ShapeVar) for item in shape) and (
        len(shape) != len(sizes)
        or any(isinstance(d, int) and d != n for d, n in zip(shape, sizes, strict=True))
    ):
        return False
    return holds(ShapeEq(shape, sizes), {}) is not False
