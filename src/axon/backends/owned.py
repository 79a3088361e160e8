"""Results that belong to the caller: an array that is computed is new, but an operator may return a
view of an argument, or a constant of the program. Such a result is copied, so that changing it in
place changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy

from axon.backends.ragged import Ragged


def owned(result: Any, args: Sequence[Any]) -> Any:
    """The result, copied where its memory is that of an argument, or may not be written to."""
    if type(result) is numpy.ndarray and result.base is None and result.flags.writeable:
        return numpy.array(result) if _is_part(result, args) else result
    return _owned(result, [*_leaves(tuple(args))])


def _is_part(array: Any, values: Sequence[Any]) -> bool:
    """Whether an array is one of these values, or is in one of them."""
    for value in values:
        if value is array:
            return True
        if isinstance(value, tuple) and _is_part(array, value):
            return True
        if isinstance(value, Ragged) and _is_part(array, (value.values,)):
            return True
    return False


def _owned(result: Any, given: list[Any]) -> Any:
    if isinstance(result, tuple):
        return tuple([_owned(item, given) for item in result])
    if isinstance(result, dict):
        return {name: _owned(item, given) for name, item in result.items()}
    if isinstance(result, Ragged):
        return replace(result, values=_owned(result.values, given))
    if isinstance(result, numpy.ndarray) and (
        not result.flags.writeable or any(numpy.may_share_memory(result, arg) for arg in given)
    ):
        return numpy.array(result)
    return result


def _leaves(given: Any) -> Iterator[Any]:
    """The arrays of an argument."""
    if isinstance(given, tuple | list):
        for item in given:
            yield from _leaves(item)
    elif isinstance(given, dict):
        yield from _leaves(tuple(given.values()))
    elif isinstance(given, Ragged):
        yield from _leaves(given.values)
    elif isinstance(given, numpy.ndarray):
        yield given
