"""Where the sizes of a tensor come from: inputs, tensors of the module, or numbers."""

from __future__ import annotations

from collections.abc import Iterator

from axon.importers.operations import Operation
from axon.importers.torch.dynamic.input_sizes import InputSize
from axon.importers.torch.dynamic.search import Found
from axon.solver.store import Store
from axon.types.dim import Dim
from axon.types.type import Shape, Tensor
from axon.types.variables import DimVar, ShapeVar


def introducing(found: Found, operation: Operation, size: InputSize) -> Iterator[Operation]:
    """The operations that made a number a size of what an operation takes: an `arange` of so many,
    where a sum has that and something else.
    """
    seen: set[str] = set()
    names = list(operation.inputs)
    while names:
        name = names.pop()
        if name in seen or not _has_number(found, name, size):
            continue
        seen.add(name)
        maker = found.makers.get(name)
        if maker is None:
            continue
        if any(_has_number(found, inner, size) for inner in maker.inputs):
            names += maker.inputs
        else:
            yield maker


def _has_number(found: Found, name: str, size: InputSize) -> bool:
    """Whether a tensor had a size as a number from the beginning, and not as that of an input."""
    for chain in _chains(found, name):
        if chain[-1] == size.example and size.var not in chain:
            return True
    return False


def carries(found: Found, operation: Operation, size: InputSize) -> bool:
    """Whether a result has the size of the input as one of its own."""
    own = set(_chain(found.imported.importer.state.store, size.var))
    own = {item for item in own if isinstance(item, DimVar)}
    return any(
        not own.isdisjoint(chain) for name in operation.outputs for chain in _chains(found, name)
    )


def concerns(found: Found, variables: frozenset[DimVar], size: InputSize) -> bool:
    """Whether a size is among some others, or is what one of them was found to be."""
    store = found.imported.importer.state.store
    own = {item for item in _chain(store, size.var) if isinstance(item, DimVar)}
    return any(not own.isdisjoint(_chain(store, var)) for var in variables)


def _chains(found: Found, name: str) -> Iterator[list[Dim]]:
    """What each size of a tensor was found to be, one after another."""
    store, type_ = found.imported.importer.state.store, found.imported.importer.types.get(name)
    for item in _as_bound(store, type_.shape) if isinstance(type_, Tensor) else ():
        if not isinstance(item, ShapeVar):
            yield _chain(store, item)


def _chain(store: Store, dim: Dim) -> list[Dim]:
    """A size, and what it was bound to, and what that was."""
    chain: list[Dim] = [dim]
    while isinstance(dim, DimVar) and dim in store.bindings:
        given = store.bindings[dim].given
        if isinstance(given, tuple):
            break
        chain.append(given)
        dim = given
    return chain


def _as_bound(store: Store, shape: Shape) -> Iterator[Dim | ShapeVar]:
    """The items of a shape as they were when it was found: later bindings are left out."""
    for item in shape:
        binding = store.bindings.get(item) if isinstance(item, ShapeVar) else None
        if binding is None or not isinstance(binding.given, tuple):
            yield item
        else:
            yield from _as_bound(store, binding.given)


def of_module(found: Found, name: str, size: InputSize) -> bool:
    """Whether a tensor has a size because one of the module has it."""
    if name in found.dependent or not _has_number(found, name, size):
        return False
    maker = found.makers.get(name)
    if maker is None:
        return True
    return not any(True for _ in introducing(found, maker, size)) and any(
        _has_number(found, inner, size) for inner in maker.inputs
    )
