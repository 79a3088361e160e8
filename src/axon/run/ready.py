"""What a call depends on beside the values: the types and sizes of its arguments, also of those in
records. Calls that agree in it run the same function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axon.backends.ragged import Ragged


def key_of(args: Sequence[Any]) -> tuple[object, ...]:
    """`AttributeError` or `TypeError` where an argument is not known by that."""
    return tuple(
        [
            a
            if type(a) is int
            else _inside(a)
            if type(a) is dict or type(a) is tuple
            else (type(a), a.dtype, a.shape)
            for a in args
        ]
    )


def _inside(value: Any) -> object:
    kind = type(value)
    if kind is dict:
        return tuple([(name, _inside(part)) for name, part in value.items()])
    if kind is tuple:
        return (kind, *[_inside(part) for part in value])
    return value if kind is int else (kind, value.dtype, value.shape)


def unchanged(given: Any, taken: Any) -> bool:
    """Whether an argument was taken as it is, and is known by its types and sizes: rows of rows
    may vary.
    """
    if type(given) is dict:
        names = sorted(given)
        return all(unchanged(given[name], part) for name, part in zip(names, taken, strict=True))
    if type(given) is tuple:
        return all(map(unchanged, given, taken))
    return given is taken and not (isinstance(taken, Ragged) and taken.rank > 2)


def with_dicts(function: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
    """A function of tuples for records as one of dicts, for arguments like these."""
    if not any(type(arg) is dict or type(arg) is tuple for arg in args):
        return function

    def run(*args: Any) -> Any:
        return function(*[_tupled(arg) for arg in args])

    return run


def _tupled(value: Any) -> Any:
    if type(value) is dict:
        return tuple([_tupled(value[name]) for name in sorted(value)])
    return tuple([_tupled(part) for part in value]) if type(value) is tuple else value
