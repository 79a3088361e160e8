"""Programs through `torch.compile`: the sizes that a signature leaves open stay open.

PyTorch treats a size of 0 or 1 as fixed. So there is a compiled function for each choice of open
sizes that are that small, and one for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._inductor.compile_fx import compile_fx

from axon.graph.graph import Graph
from axon.types.type import DimValue, ShapeValue, Tensor, Tuple, Type

Dims = tuple[int, ...]


class Compiled:
    """The function of a graph, compiled. Called with its arguments, it marks the open dimensions
    of the tensors: PyTorch asks for that whenever it compiles, which it may do again for arguments
    with or without gradients.
    """

    def __init__(self, graph: Graph, function: Callable[..., Any], counter: list[int]) -> None:
        self.types = [param.type for param in graph.params]
        self.function = function
        self.counter = counter
        self.made: dict[object, Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        key: list[Any] = []
        for type_, arg in zip(self.types, args, strict=True):
            self.mark(type_, arg, key)
        kind = tuple(key)
        made = self.made.get(kind)
        if made is None:
            made = self.made[kind] = self.compile()
        return made(*args)

    def mark(self, type_: Type, arg: Any, key: list[Any]) -> None:
        """Mark what is open in an argument, and add what the compiled function depends on."""
        match type_:
            case Tuple(items):
                for item, part in zip(items, arg, strict=True):
                    self.mark(item, part, key)
            case Tensor(_, shape):
                sizes = arg.shape
                dims = open_dims(shape)
                small = [(i, sizes[i]) for i in dims if sizes[i] < 2] if dims else None
                if small:
                    key.append((len(key), tuple(small)))
                    dims = {i for i in dims if sizes[i] > 1}
                if dims:
                    arg._dynamo_weak_dynamic_indices = dims
            case DimValue() | ShapeValue():
                key.append(arg)
            case _:
                pass

    def compile(self) -> Callable[..., Any]:
        function = self.function
        # each has a cache of its own in PyTorch, which has a limit for one function
        code = type(function)(
            function.__code__.replace(),  # type: ignore[attr-defined]
            function.__globals__,  # type: ignore[attr-defined]
            function.__name__,
            function.__defaults__,  # type: ignore[attr-defined]
            function.__closure__,  # type: ignore[attr-defined]
        )
        return torch.compile(code, backend=self._backend, dynamic=False)

    def _backend(self, module: Any, inputs: Sequence[Any]) -> Any:
        self.counter[0] += 1
        return compile_fx(module, inputs)


def open_dims(shape: Sequence[Any]) -> set[int]:
    """The dimensions of a tensor whose size is no number."""
    return {i for i, size in enumerate(shape) if not isinstance(size, int)}
