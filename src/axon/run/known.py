"""What a call is known by: the kinds, element types and sizes of its arguments, part by part.

A call like one before it needs no conversion of its arguments and no check of their sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.backends.ragged import Ragged
from axon.run.structures import Fields

Key = tuple[Any, ...]


def known_by(args: Sequence[Any]) -> tuple[Key, Sequence[Any]]:
    """The key of a call, and its arguments with tuples for records. An argument that is not an
    array, a size, or a plain dict or tuple of such, raises `AttributeError` or `TypeError`.
    """
    try:
        return tuple([a if type(a) is int else (type(a), a.dtype, a.shape) for a in args]), args
    except AttributeError:
        key: list[Any] = []
        given = [_part(arg, key) for arg in args]
        return tuple(key), given


def _part(value: Any, key: list[Any]) -> Any:
    kind = type(value)
    if kind is dict:
        names = sorted(value)
        key.append(tuple(names))
        return tuple([_part(value[name], key) for name in names])
    if kind is tuple:
        key.append(("tuple", len(value)))
        return tuple([_part(item, key) for item in value])
    key.append(value if kind is int else (kind, value.dtype, value.shape))
    return value


def is_known_by(arg: Any, array: Any) -> bool:
    """Whether the key of a call says all of an argument that a graph depends on, and the graph
    takes the argument as it is; `array` is what it was converted to.
    """
    if isinstance(array, Fields):
        names = array.names
        return type(arg) is dict and all(
            is_known_by(arg[name], part) for name, part in zip(names, array, strict=True)
        )
    if isinstance(array, tuple):
        return type(arg) is tuple and all(map(is_known_by, arg, array))
    if isinstance(array, Ragged) and None in array.shape[2:]:
        return False  # it may vary over the rows, or over the rows of rows
    return arg is array
