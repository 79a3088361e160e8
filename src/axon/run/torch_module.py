"""A definition with its weights as a module of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy
import torch

from axon.backends.torch_backend import TorchBackend
from axon.backends.torch_elements import from_host
from axon.run.errors import ArgumentError
from axon.run.parameters import chosen, no_parameters
from axon.run.structures import Unfit, fields_of

MOST_READY = 4096
"""For how many sizes of arguments a module remembers what to run."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The function of a call, and where its arguments stand among the weights and the others."""

    function: Any
    order: tuple[int, ...]


class Weights(torch.nn.Module):
    """A record, or a tuple, of weights: a node of the tree whose leaves are tensors."""

    def __init__(self, record: bool) -> None:
        super().__init__()
        self.is_record = record


class AxonModule(Weights):
    """A definition whose weights are parameters and buffers, by their dotted names. It is called
    with the other arguments.

    >>> import axon
    >>> net = axon.compile("dense = fn (p : {w : f32 [d,e]}, x : f32 [n,d]) { matmul(x, p.w) };")
    >>> dense = net.dense.module(net.dense.init(0, d=3, e=2))
    >>> [(name, tuple(p.shape)) for name, p in dense.named_parameters()]
    [('w', (3, 2))]
    """

    def __init__(
        self,
        function: Any,
        weights: Any,
        params: str | Sequence[str] | None,
        buffers: Sequence[str],
    ) -> None:
        super().__init__(True)
        names = chosen(function.subject, params)
        if not names:
            raise no_parameters(function.subject)
        compiled = getattr(function._backend, "compiled", False)
        backend = TorchBackend(compiled, frozenset(names))
        self._function = function.on(backend)
        self._names = names
        parts = (weights,) if len(names) == 1 else weights
        if not isinstance(parts, tuple | list) or len(parts) != len(names):
            listed = ", ".join(f"`{name}`" for name in names)
            raise ArgumentError(f"{function.__name__} has the weights {listed}: give a tuple")
        try:
            if len(names) == 1:
                self._fill(self, parts[0], "", buffers)
            else:
                for name, part in zip(names, parts, strict=True):
                    self._add(self, name, part, name, buffers)
        except Unfit as unfit:
            about = f"{function.__name__}: `{names[0]}{unfit.path}`"
            raise ArgumentError(f"{about} cannot be a weight: {unfit}") from None
        self._rest = [name for name in self._function.params if name not in names]
        self._plans: dict[object, Plan] = {}
        self._ready: dict[object, Callable[..., Any]] = {}
        self._build: Callable[[], tuple[list[Any], list[Any]]] | None = None

    def _fill(self, at: Weights, value: Any, path: str, buffers: Sequence[str]) -> None:
        fields = fields_of(value, None)
        if fields is None and isinstance(value, tuple | list):
            at.is_record = False
            fields = {str(i): part for i, part in enumerate(value)}
        if fields is None:
            raise Unfit(f"it is a {type(value).__name__}, not a record")
        for name, part in fields.items():
            self._add(at, name, part, f"{path}.{name}" if path else name, buffers)

    def _add(self, at: Weights, name: str, value: Any, path: str, buffers: Sequence[str]) -> None:
        if hasattr(torch.nn.Module, name) or "." in name:
            raise Unfit(f"a module of PyTorch has no place for a weight called `{name}`")
        if not hasattr(value, "dtype"):
            inner = Weights(True)
            at.add_module(name, inner)
            self._fill(inner, value, path, buffers)
            return
        tensor = (
            value if isinstance(value, torch.Tensor) else from_host(numpy.asarray(value), "cpu")
        )
        trained = tensor.is_floating_point() and not any(fnmatchcase(path, b) for b in buffers)
        if not trained:
            at.register_buffer(name, tensor)
        elif isinstance(tensor, torch.nn.Parameter):
            at.register_parameter(name, tensor)
        else:
            at.register_parameter(name, torch.nn.Parameter(tensor.detach()))

    # --- calling it ---

    def forward(self, *args: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling():
            return _apart(self._run, *args, **named)
        return self._run(*args, **named)

    def _run(self, *args: Any, **named: Any) -> Any:
        weights, leaves = (self._build or self._builder())()
        plan = self._plans.get((len(args), *named)) or self._plan(args, named)
        rest = [*args, *named.values()] if named else args
        try:  # what has been called with such arguments before is ready
            sizes = [a if type(a) is int else (a.dtype, a.shape) for a in rest]
            key = (plan, *sizes, *[(a.dtype, a.shape) for a in leaves])
            ready = self._ready[key]
        except (AttributeError, TypeError):
            return plan.function(**self._named(args, named))
        except KeyError:
            return self._first(plan, key, args, named)
        every = [*weights, *rest]
        return plan.function._failures.guarded(ready, [every[i] for i in plan.order])

    def _plan(self, args: tuple[Any, ...], named: dict[str, Any]) -> Plan:
        """Which argument stands where, in a call with so many, and some by name."""
        given = self._named(args, named)
        function = self._function._without((), given)
        function._arguments.arranged((), given)
        names = [*self._names, *self._rest[: len(args)], *named]
        order = tuple([names.index(name) for name in function.params])
        plan = self._plans[len(args), *named] = Plan(function, order)
        return plan

    def _named(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """All arguments by name, the weights too."""
        about = self._function.__name__
        for name in self._names:
            if name in named:
                raise ArgumentError(f"{about}: the module has its own `{name}`")
        rest = self._rest
        if len(args) > len(rest):
            listed = ", ".join(rest) or "none"
            raise ArgumentError(
                f"{about}: {len(args)} arguments are given; the module takes {len(rest)}: {listed}"
            )
        given = dict(zip(rest, args, strict=False))
        for name in given:
            if name in named:
                raise ArgumentError(f"{about}: the argument `{name}` is given twice")
        return {**given, **named, **{name: _value(at) for name, at in self._roots()}}

    def _first(self, plan: Plan, key: object, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A call with arguments of new sizes."""
        given = self._named(args, named)
        ready = plan.function._ready_for([given[name] for name in plan.function.params])
        if ready is None:
            return plan.function(**given)
        if len(self._ready) >= MOST_READY:
            self._ready.clear()
        self._ready[key] = ready
        return self._run(*args, **named)

    def _roots(self) -> list[tuple[str, Weights]]:
        if len(self._names) == 1:
            return [(self._names[0], self)]
        return [(name, getattr(self, name)) for name in self._names]

    def _builder(self) -> Callable[[], tuple[list[Any], list[Any]]]:
        """A function that reads the weights: as the generated code takes them, and in a row. They
        are read at each call: `functional_call` and others put different tensors in their places.
        """
        space: dict[str, Any] = {}
        leaves: list[str] = []

        def written(at: Any) -> str:
            own = f"m{len(space)}"
            space[own] = at._parameters
            others = f"m{len(space)}"
            space[others] = at._buffers
            parts = []
            for name in _fields(at):
                if name in at._modules:
                    parts.append(written(at._modules[name]))
                else:
                    parts.append(f"{own if name in at._parameters else others}[{name!r}]")
                    leaves.append(parts[-1])
            return f"({''.join(f'{part}, ' for part in parts)})"

        held = []
        for name, at in self._roots():
            single = name not in self._parameters and name not in self._buffers
            held.append(written(at) if single else "")
        text = f"lambda: ([{', '.join(held)}], [{', '.join(leaves)}])"
        self._build = eval(text, space)
        return self._build

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_build": None, "_plans": {}, "_ready": {}}

    def extra_repr(self) -> str:
        return str(self._function.described.line())


def _disabled(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return function(*args, **named)


_apart = torch.compiler.disable(_disabled)
"""A call that a compiler around it leaves alone: inference is not for it to trace."""


def _fields(at: Any) -> list[str]:
    """The parts in the order in which the generated code takes them: the fields of a record by
    their names.
    """
    names = [*at._parameters, *at._buffers, *at._modules]
    return sorted(names) if at.is_record else sorted(names, key=int)


def _value(at: Any) -> Any:
    """A node of the tree as the value of an argument."""
    parts = {
        name: _value(at._modules[name])
        if name in at._modules
        else at._parameters.get(name, at._buffers.get(name))
        for name in _fields(at)
    }
    return parts if at.is_record else tuple(parts.values())
