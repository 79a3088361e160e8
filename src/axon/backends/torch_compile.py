"""Programs through `torch.compile`: the sizes that a signature leaves open stay open.

PyTorch treats a size of 0 or 1 as fixed. So there is a compiled function for each choice of open
sizes that are that small, and one for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import torch

from axon.graph.graph import Graph
from axon.types.type import (
    DimValue,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    shape_variables,
    type_variables,
)
from axon.types.variables import Var

Open = Any
"""The open dimensions of a tensor, a tuple for those of a tuple; "number" for a size; None where
there are none.
"""


class Compiled:
    """The function of a graph, compiled. Called with its arguments, it marks the open dimensions
    of the tensors: PyTorch asks for that whenever it compiles, which it may do again for arguments
    with or without gradients.
    """

    def __init__(
        self,
        graph: Graph,
        function: Callable[..., Any],
        counter: list[int],
        fixed: frozenset[str] = frozenset(),
    ) -> None:
        known = {v for p in graph.params if p.name in fixed for v in type_variables(p.type)}
        self.types = [
            (at, dims)
            for at, param in enumerate(graph.params)
            if param.name not in fixed and (dims := _open(param.type, known)) is not None
        ]
        self.function = function
        self.counter = counter
        self.made: dict[object, Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        key: list[Any] = []
        for at, dims in self.types:
            _mark(dims, args[at], key)
        kind = tuple(key)
        made = self.made.get(kind)
        if made is None:
            made = self.made[kind] = self.compile()
        return made(*args)

    def compile(self) -> Callable[..., Any]:
        code: Any = self.function
        # each has a cache of its own in PyTorch, which has a limit for one function
        own = FunctionType(code.__code__.replace(), code.__globals__, code.__name__)
        # what the generated code refers to does not change
        options = {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe}
        made: Callable[..., Any] = torch.compile(
            own, backend=self._backend, dynamic=False, options=options
        )
        return made

    def _backend(self, module: Any, inputs: Sequence[Any]) -> Any:
        from torch._inductor.compile_fx import compile_fx

        self.counter[0] += 1
        return compile_fx(module, inputs)


def _open(type_: Type, known: set[Var]) -> Open:
    """What is open in an argument whose type has variables of which some are known."""
    match type_:
        case Tuple(items):
            parts = tuple(_open(item, known) for item in items)
            return parts if any(part is not None for part in parts) else None
        case Tensor(_, shape):
            dims = frozenset(
                i for i, size in enumerate(shape) if not set(shape_variables((size,))) <= known
            )
            return dims or None
        case DimValue() | ShapeValue():
            return "number"
        case _:
            return None


def _mark(open_: Open, arg: Any, key: list[Any]) -> None:
    """Mark what is open in an argument, and add what the compiled function depends on."""
    if isinstance(open_, frozenset):
        sizes = arg.shape
        small = [i for i in open_ if sizes[i] < 2]
        if small:
            key.append((len(key), *((i, sizes[i]) for i in small)))
            open_ = open_.difference(small)
        arg._dynamo_weak_dynamic_indices = open_
    elif isinstance(open_, tuple):
        for inner, part in zip(open_, arg, strict=True):
            if inner is not None:
                _mark(inner, part, key)
    elif open_ == "number":
        key.append(arg)
