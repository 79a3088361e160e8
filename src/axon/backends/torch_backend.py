"""Programs on PyTorch, on the device of their arguments: operator by operator, or compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy
import torch

from axon.backends.code import compile_graph, looping
from axon.backends.coder import Externs, Watcher
from axon.backends.home import converted
from axon.backends.nested import nested
from axon.backends.options import DEFAULT, Options
from axon.backends.ragged import Ragged
from axon.backends.static import is_static
from axon.backends.torch_arrays import arrays_on, failure
from axon.backends.torch_compile import Compiled
from axon.backends.torch_elements import from_host, to_host
from axon.graph.graph import Graph

Run = Callable[..., Any]

UNKNOWN = -1
"""For the memory of a tensor that has none of its own."""


class TorchBackend:
    """Tensors stay where they are; arrays of other libraries are brought here and back."""

    name = "torch"
    native = frozenset({"torch"})
    options: Options = DEFAULT
    sharding = None

    def __init__(self, compiled: bool = False, fixed: frozenset[str] = frozenset()) -> None:
        """The sizes of the parameters named in `fixed` do not change: they are those of weights."""
        self.compiled = compiled
        self.fixed = fixed
        self._traced = [0]

    @property
    def compilations(self) -> int:
        """How often `torch.compile` has compiled a program."""
        return self._traced[0]

    def stacked_layers(self, name: str) -> tuple[str, ...]:
        return ()

    def prepare(self, graph: Graph, externs: Externs, watcher: Watcher | None = None) -> Run:
        compiled = self.compiled and is_static(graph)
        made: dict[Any, tuple[Run, frozenset[int]]] = {}

        def make(device: Any) -> tuple[Run, frozenset[int]]:
            arrays = arrays_on(device, bounded=not compiled)
            function: Any = compile_graph(graph, arrays, externs, watcher)[0]
            held = function.__globals__.values()
            constants = frozenset(_memory(each) for each in held if isinstance(each, torch.Tensor))
            if compiled:
                function = Compiled(graph, function, self._traced, self.fixed)
            made[device] = function, constants
            return made[device]

        def run(*args: Any) -> Any:
            device = device_of(args)
            function, constants = made.get(device) or make(device)
            return owned(function(*args), args, constants)

        run.looping = lambda: [step for each, _ in made.values() for step in looping(each)]  # type: ignore[attr-defined]
        return run

    def traceable(self, graph: Graph, externs: Externs) -> Run:
        return self.prepare(graph, externs)

    def placing(self, arrays: Sequence[Any]) -> Callable[[Any], Any] | None:
        if all(isinstance(array, torch.Tensor | int) for array in arrays):
            return None
        device = device_of(arrays)
        return lambda value: _placed(value, device)

    def returned(self, result: Any, library: str | None, args: Sequence[Any]) -> Any:
        if library == "numpy":
            return converted(result, to_host)
        if library == "jax":
            jnp = sys.modules["jax.numpy"]
            return converted(result, lambda tensor: jnp.asarray(to_host(tensor)))
        return nested(result, args) if library == "torch" else result

    def failure(self, problem: Exception) -> str | None:
        return failure(problem)


def _placed(value: Any, device: Any) -> Any:
    if isinstance(value, Ragged):
        first = next(tensors(value), None)
        return value if first is not None else value.each_array(lambda x: from_host(x, device))
    if isinstance(value, torch.Tensor | int):
        return value
    return from_host(numpy.asarray(value), device)


def device_of(args: Sequence[Any]) -> Any:
    """Where the tensors are: the device of the first."""
    for arg in args:
        if isinstance(arg, torch.Tensor):
            return arg.device
        if isinstance(arg, tuple | Ragged):
            for leaf in tensors(arg):
                return leaf.device
    return torch.get_default_device()


def tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for part in value:
            yield from tensors(part)
    elif isinstance(value, Ragged):
        yield from tensors(value.values)
        if value.like is not None:
            yield from tensors(value.like)
    elif isinstance(value, torch.Tensor):
        yield value


def owned(result: Any, args: Sequence[Any], constants: frozenset[int]) -> Any:
    """The result, copied where its memory is that of an argument, or of a constant."""
    if isinstance(result, torch.Tensor) and not result._is_view():
        if constants and _memory(result) in constants:
            return result.clone()
        for arg in args:
            if arg is result or (type(arg) is tuple and any(x is result for x in tensors(arg))):
                return result.clone()
        return result
    return _owned(result, {_memory(arg) for arg in tensors(args)} | constants)


def _owned(result: Any, given: set[int] | frozenset[int]) -> Any:
    if isinstance(result, tuple):
        return tuple([_owned(item, given) for item in result])
    if isinstance(result, Ragged):
        return replace(result, values=_owned(result.values, given))
    if isinstance(result, torch.Tensor) and _memory(result) in given:
        return result.clone()
    return result


def _memory(tensor: Any) -> int:
    """Where a tensor's memory is; one number for all those that `torch.func` transforms, of which
    it is not known.
    """
    try:
        found: int = tensor.untyped_storage().data_ptr()
    except NotImplementedError:
        return UNKNOWN
    return found
