"""What an expression makes, as a tensor of a model.

In a program a size that only a run knows stays one. In a model it is a variable: other nodes may
tell what it is, and the run checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from axon.inference.state import State
from axon.solver.constraints import Origin
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.type import (
    DimEq,
    DimValue,
    Renaming,
    ShapeValue,
    Tensor,
    Type,
    shape_rank,
    shape_variables,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar


def as_plain(type_: Type, simplest: dict[Poly, Dim]) -> Type | None:
    """The type with each size in its simplest form, if it is that of a tensor of a model as it
    stands. `simplest` has the forms of sizes that were met before.
    """
    if not isinstance(type_, Tensor):
        return None
    word = list(type_.shape)
    for at, item in enumerate(type_.shape):
        if isinstance(item, Poly):
            form = simplest.get(item)
            if form is None:
                if is_at_run_time(item) or is_vast(item):
                    return None
                form = simplest[item] = dims.added_up(item)
            word[at] = form
        elif not isinstance(item, int) and item.runtime:
            return None
    shape = tuple(word)
    return type_ if shape == type_.shape else Tensor(type_.elem, shape)


def is_at_run_time(item: Dim | ShapeVar) -> bool:
    """Whether only the run knows a size, or some part of it."""
    return any(each.runtime for each in shape_variables((item,)))


def opened(
    state: State, types: Sequence[Type], given: Iterable[Type], origin: Origin
) -> list[Type]:
    """The types, with variables for the run-time sizes that none of the `given` types has. A value
    that is a size has the type of the tensor that it can be.
    """
    made = Renaming({}, {}, {}, {})
    known = {var for type_ in given for var in type_variables(type_)}
    for var in [var for type_ in types for var in type_variables(type_)]:
        if var in known:
            continue
        if isinstance(var, DimVar) and var.runtime and var.rank_of is None:
            made.dims.setdefault(var, state.fresh_dim())
        elif isinstance(var, ShapeVar) and var.runtime and var not in made.shapes:
            shape = made.shapes[var] = (state.fresh_shape(),)
            if not state.sealed:
                state.post(DimEq(shape_rank(shape), shape_rank((var,))), origin)
    return [_kept(state, made.type(as_tensor(type_))) for type_ in types]


def is_vast(item: Dim | ShapeVar) -> bool:
    return not isinstance(item, ShapeVar) and dims.is_vast(item)


def _kept(state: State, type_: Type) -> Type:
    """The type, with variables for sizes that grew out of hand."""
    if not isinstance(type_, Tensor):
        return type_
    word = [state.fresh_dim() if is_vast(item) else item for item in type_.shape]
    return Tensor(type_.elem, tuple(word))


def added_up(type_: Type) -> Type:
    """The type with each size in its simplest form: what was cut in two and is put together again,
    as by a roll, has the size that it had; what is cut off beside something is what is left of it.
    """
    if not isinstance(type_, Tensor) or not any(isinstance(item, Poly) for item in type_.shape):
        return type_
    word = [dims.added_up(item) if isinstance(item, Poly) else item for item in type_.shape]
    return Tensor(type_.elem, tuple(word))


def as_tensor(type_: Type) -> Type:
    """A size as the integers that it is where a tensor is expected."""
    if isinstance(type_, ShapeValue):
        return Tensor("i64", (shape_rank(type_.shape),))
    return Tensor("i64", ()) if isinstance(type_, DimValue) else type_
