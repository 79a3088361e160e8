"""Binding: the sizes of the arguments decide the variables of the signature, and the conditions on
them are checked, before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.backends.checks import Sizes, describe_failure, holds, value
from axon.backends.ragged import Ragged
from axon.backends.roots import roots
from axon.backends.row_sizes import Number, same_sizes, size_at
from axon.graph.graph import Graph
from axon.graph.sizes import only_unknown, readings
from axon.ops.memory import shown
from axon.solver.constraints import Guard
from axon.types.dim import Dim
from axon.types.show import Names, Show
from axon.types.type import DimValue, Record, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar

Later = tuple[str, int, Dim, int]
"""A parameter, an axis, the expression that its size there should be, and the size."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An argument that does not fit: a sentence, and the sizes that were bound before it."""

    text: str
    guard: Guard | None = None


@dataclass(slots=True)
class Binding:
    """The sizes so far, and which argument each was read off. It is `open` if a rank is."""

    sizes: Sizes = field(default_factory=dict)
    origins: dict[DimVar | ShapeVar, str] = field(default_factory=dict)
    rows: dict[DimVar, Number] = field(default_factory=dict)
    open: bool = False

    def describe(self, names: Names) -> str:
        """`n=3 from x, …`, of the sizes that the signature has names for."""
        parts = [
            f"{names(var)}={self.sizes[var]} from {origin}"
            for var, origin in self.origins.items()
            if isinstance(self.sizes.get(var), int) and (var.user or var in names.given)
        ]
        return ", ".join(parts)


def bind(
    graph: Graph, args: Sequence[Any], naming: Callable[[], Names]
) -> Binding | Mismatch | None:
    """The sizes of the arguments; None where they alone do not decide whether the arguments fit.
    `naming` provides names for the message, where they do not.
    """
    found = _bind(graph, args, Names())
    return _bind(graph, args, naming()) if isinstance(found, Mismatch) else found


def _bind(graph: Graph, args: Sequence[Any], names: Names) -> Binding | Mismatch | None:
    binding = Binding()
    later: list[Later] = []
    for param, arg in zip(graph.params, args, strict=True):
        problem = _leaf(param.name, param.type, param.made, arg, binding, later, names)
        if problem is not None:
            return problem
    stuck = _computed(later, binding, names)
    if stuck is not None:
        return stuck if isinstance(stuck, Mismatch) else None
    found = _conditions(graph, binding, names)
    return None if binding.open and not isinstance(found, Mismatch) else found


def _leaf(
    name: str,
    type_: Type,
    made: Type | None,
    arg: Any,
    binding: Binding,
    later: list[Later],
    names: Names,
) -> Mismatch | None:
    """One argument. `made` is its type before a run-time check equates it with another."""
    if isinstance(type_, Tuple):
        own = made.items if isinstance(made, Tuple) else type_.items
        for i, (inner, mine, part) in enumerate(zip(type_.items, own, arg, strict=True)):
            where = f".{type_.names[i]}" if isinstance(type_, Record) else f"[{i}]"
            problem = _leaf(name + where, inner, mine, part, binding, later, names)
            if problem is not None:
                return problem
        return None
    sizes = binding.sizes
    match type_:
        case Tensor(_, wanted):
            shape = arg.shape
        case ShapeValue(wanted):
            shape = arg
        case DimValue(size_):
            wanted, shape = (size_,), (arg,)
        case _:
            raise AssertionError(type_)
    if any(isinstance(item, ShapeVar) for item in wanted):
        binding.open = True  # `p@[n]@q`: which of the sizes is n is ambiguous
        return None
    for axis, (dim, size) in enumerate(zip(wanted, shape, strict=True)):
        assert not isinstance(dim, ShapeVar)
        if isinstance(dim, DimVar) and dim.over:
            if isinstance(made, Tensor) and made.shape[axis] != dim:
                continue
            problem = _varying(name, axis, dim, arg, binding, names)
            if problem is not None:
                return problem
        elif isinstance(dim, DimVar):
            if size is None:  # it varies: one for each row
                continue
            known = sizes.get(dim)
            if known is None:
                sizes[dim] = size
                binding.origins[dim] = name
            elif known != size:
                return _differ(name, axis, dim, known, size, binding, names)
        elif isinstance(dim, int):
            if dim != size:
                return _differ(name, axis, dim, dim, size, binding, names)
        elif size is not None:
            later.append((name, axis, dim, size))
    return None


def _varying(
    name: str, axis: int, dim: DimVar, arg: Any, binding: Binding, names: Names
) -> Mismatch | None:
    """A size that varies is the same, row by row, in all arguments that have it."""
    level = arg.levels[axis] if isinstance(arg, Ragged) else min(dim.over, axis)
    found = size_at(arg, axis, range(level))
    known = binding.rows.setdefault(dim, found)
    binding.origins.setdefault(dim, name)
    if known is found or same_sizes(known, found):
        return None
    origin = binding.origins.get(dim)
    text = Show(names, named=True).dim(dim)
    return Mismatch(
        f"size {axis} of `{name}` is {found}, and should be {text} = {known}"
        + (f" (from {origin})" if origin else "")
    )


def _computed(later: list[Later], binding: Binding, names: Names) -> Mismatch | list[Later] | None:
    """Sizes that are expressions: those whose variables are all known are compared, and a single
    unknown is solved for. Returns the sizes still open, or the mismatch.
    """
    exact = True  # divisions and roots are solved last
    while later:
        left: list[Later] = []
        for entry in later:
            name, axis, dim, size = entry
            known = value(dim, binding.sizes)
            if known is None:
                found = _solve(dim, size, binding, name, exact)
                if found is None:
                    left.append(entry)
                elif not found:
                    so_far = binding.describe(names)
                    return Mismatch(
                        f"size {axis} of `{name}` is {size}, and should be {Show(names).dim(dim)}"
                        + (f"; so far {so_far}" if so_far else "")
                    )
            elif known != size:
                return _differ(name, axis, dim, known, size, binding, names)
        if len(left) == len(later):
            if not exact:
                return left
            exact = False
        later = left
    return None


def _solve(dim: Dim, size: int, binding: Binding, name: str, linear: bool) -> bool | None:
    """Solve for the one unknown; False if there is no solution, None if there are more unknowns, or
    more solutions.
    """
    if linear:
        for var, reading in readings(Tensor("f32", (dim,))):
            if isinstance(var, DimVar) and var not in binding.sizes:
                found, rest = divmod(size - reading.offset, reading.scale)
                if rest or found < 0:
                    return False
                binding.sizes[var] = found
                binding.origins[var] = name
                return True
        return None
    only = only_unknown(dim, binding.sizes)
    candidates = roots(dim, only, size, binding.sizes) if only is not None else None
    if only is None or candidates is None or len(candidates) > 1:
        return None
    if not candidates:
        return False
    binding.sizes[only] = candidates[0]
    binding.origins[only] = name
    return True


def _differ(
    name: str, axis: int, dim: Dim, wanted: Any, size: Any, binding: Binding, names: Names
) -> Mismatch:
    text = Show(names).dim(dim)
    computed = shown(wanted) if isinstance(wanted, int) else str(wanted)
    what = computed if isinstance(dim, int) else f"{text} = {computed}"
    if isinstance(dim, DimVar) and dim in binding.origins:
        what += f" (from {binding.origins[dim]})"
    so_far = binding.describe(names)
    return Mismatch(
        f"size {axis} of `{name}` is {size}, and should be {what}"
        + (f"; so far {so_far}" if so_far else "")
    )


def _conditions(graph: Graph, binding: Binding, names: Names) -> Binding | Mismatch | None:
    """Check the conditions until nothing new is decided: some decide a size that others need."""
    waiting = list(graph.requires)
    while waiting:
        left: list[Guard] = []
        for guard in waiting:
            verdict = holds(guard.relation, binding.sizes)
            if verdict is False:
                so_far = binding.describe(names)
                text = describe_failure(guard.relation, binding.sizes, names)
                return Mismatch(text + (f"; {so_far}" if so_far else ""), guard)
            if verdict is None:
                left.append(guard)
        if len(left) == len(waiting):
            return None
        waiting = left
    return binding
