"""Operators applied to arguments that tell all there is to know, for who wants no reasons, or asks
again when something is wrong.
"""

from __future__ import annotations

from typing import Any

from axon.inference.plan import Plan, planned
from axon.inference.state import State
from axon.ops import OPERATORS, Operator, Problem
from axon.ops.scheme import general_scheme
from axon.solver.store import Store
from axon.source import Span
from axon.types.dim import Dim, Poly
from axon.types.elements import BIT, NUM
from axon.types.type import Tensor, Type
from axon.types.variables import DimVar

MOST_PLANS = 10_000

_plans: dict[tuple[object, ...], Plan | None] = {}


def applied(
    state: State, name: str, args: list[Type], attributes: dict[str, Any], span: Span
) -> Type | None:
    """The result of an operator for arguments of these types, all that is known put in, and for
    attributes that are values; None if that takes more than putting in.
    """
    operator = OPERATORS[name]
    values: dict[str, object] = {}
    given: dict[str, Dim] = {}
    for attribute, value in attributes.items():
        kind = operator.attributes.get(attribute, "")
        found = _value(kind, attribute, value, given, state.store)
        if found is None:
            return None
        values[attribute] = found
    spatial = _spatial(args) if operator.spatial else None
    key = (name, len(args), spatial, *values.items())
    try:
        plan = _plans[key]
    except KeyError:
        if len(_plans) > MOST_PLANS:
            _plans.clear()
        plan = _plans[key] = _planned(operator, len(args), values, spatial, tuple(given))
    return None if plan is None else plan.result(state, args, given, span)


def infixed(state: State, name: str, args: list[Type], span: Span) -> Type | None:
    """The same for `x + y` and its like, of a tensor and something else."""
    left, right = args
    if isinstance(left, Tensor):
        same = left == right and OPERATORS[name].traits.arithmetic
        if same and isinstance(left.elem, str) and BIT[left.elem] & NUM:
            return left
    elif not isinstance(right, Tensor):
        return None
    return applied(state, name, args, {}, span)


def _planned(
    operator: Operator,
    arity: int,
    attributes: dict[str, object],
    spatial: int | None,
    given: tuple[str, ...],
) -> Plan | None:
    if operator.required.difference(attributes) or (operator.spatial and spatial is None):
        return None
    general = general_scheme(operator, arity, attributes, spatial, given)
    if isinstance(general, Problem):
        return None
    plan = planned(general, operator.name)
    return plan if plan is not None and len(plan.params) == arity else None


def _spatial(args: list[Type]) -> int | None:
    """The number of spatial dimensions, from the rank of the first argument."""
    first = args[0] if args else None
    if not isinstance(first, Tensor):
        return None
    rank = len(first.shape)
    return rank - 2 if 3 <= rank <= 5 else None


# --- attributes ------------------------------------------------------------------------------


def _value(kind: str, name: str, value: Any, given: dict[str, Dim], store: Store) -> object | None:
    """A value as an attribute of that kind has it; None for one that is not plain. Sizes go to
    `given`, under names.
    """
    match kind.removesuffix(" | None"):
        case "int":
            return value if type(value) is int else None
        case "bool":
            return value if type(value) is bool else None
        case "float":
            return float(value) if type(value) in (int, float) else None
        case "str":
            return value if isinstance(value, str) else None
        case "Element":
            return str(value) if isinstance(value, str) and value in BIT else None
        case "Ints":
            return _each(value, int)
        case "Floats":
            return _each(value, float)
        case "Extent":
            return _extent(name, value, given, store)
        case "Extents":
            found = []
            for i, item in enumerate(_items(value)):
                extent = _extent(f"{name}{i}", item, given, store)
                if extent is None:
                    return None
                found.append(extent)
            return tuple(found)
        case either if " | " in either:
            options = (_value(each, name, value, given, store) for each in either.split(" | "))
            return next((found for found in options if found is not None), None)
        case _:
            return None


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        return [value]
    found: list[Any] = []
    for item in value:
        found.extend(item if isinstance(item, list | tuple) else (item,))
    return found


def _each(value: Any, kind: type[int] | type[float]) -> object | None:
    found = _items(value)
    for item in found:
        if type(item) is not int and (kind is int or type(item) is not float):
            return None
    return tuple(map(kind, found))


def _extent(name: str, value: Any, given: dict[str, Dim], store: Store) -> int | str | None:
    if type(value) is int:
        return value
    if not isinstance(value, DimVar | Poly):
        return None
    dim = store.dim(value)
    if isinstance(dim, int):
        return dim
    given[f"{name}_given"] = dim
    return f"{name}_given"
