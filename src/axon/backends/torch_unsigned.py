"""Unsigned integers on PyTorch, which stores u16, u32 and u64 and computes next to nothing with
them. Operators on the first two go through i64, where they have room, and are cut to size; those on
u64 are left to NumPy. Values of rows are treated like tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

import torch

from axon.backends.numpy_arrays import ARRAYS as NUMPY
from axon.backends.segments.arrays import FlatArrays
from axon.backends.segments.elsewhere import applied
from axon.backends.segments.namespace import flat_arrays
from axon.backends.segments.rows import Rows
from axon.backends.torch_elements import DTYPES, NAMES, to_host
from axon.ops.arrays import Array, Meaning, Value
from axon.ops.families import bits

UNSIGNED = frozenset({torch.uint16, torch.uint32, torch.uint64})

NARROW = frozenset({torch.uint16, torch.uint32})

SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
"""Types with as many bits, as which elements are moved."""

Around = Callable[[Meaning], Meaning]


def moved(how: Callable[[Array], Array], x: Array) -> Array:
    """A function that only moves the elements of a tensor."""
    signed = SIGNED.get(x.dtype)
    return how(x) if signed is None else how(x.view(signed)).view(x.dtype)


def around_unsigned(operator: Any, elems: frozenset[str], made: Any) -> Around | None:
    """What is done around a meaning where some operands or results have these element types. A
    function that is called is applied to the elements as they are.
    """
    if not elems & {"u16", "u32", "u64"} or id(operator) == id(bits.bit_cast):
        return None
    if operator.traits.calls is not None:
        return None
    return on_host if "u64" in elems else lambda meaning: _widened(meaning, made)


# --- in a wider type -----------------------------------------------------------------------------


def _widened(meaning: Meaning, made: Any) -> Meaning:
    """In i64, where 16 and 32 bits have room; the result is cut, as it is declared."""

    def does(xp: Any, *args: Any, **attributes: Any) -> Value:
        def wide(x: Any) -> Any:
            return xp.astype(x, torch.int64) if _dtype(x) in NARROW else x

        narrow = next((NAMES[arg.dtype] for arg in args if _dtype(arg) in UNSIGNED), "")
        given = [_each(arg, wide) for arg in args]
        return _cut(xp, meaning(_for_narrow(xp, narrow), *given, **attributes), made)

    return does


def _dtype(x: Any) -> Any:
    return x.dtype if isinstance(x, torch.Tensor | Rows) else None


def _for_narrow(xp: Any, elem: str) -> Any:
    if isinstance(xp, FlatArrays):
        return flat_arrays(xp.xp.for_narrow(elem))
    return xp.for_narrow(elem)


def _cut(xp: Any, value: Value, made: Any) -> Value:
    """A result as it is declared."""
    if isinstance(value, tuple):
        return tuple(_cut(xp, part, elem) for part, elem in zip(value, made, strict=True))
    return xp.astype(value, DTYPES[made]) if DTYPES.get(made) in NARROW else value


def _each(value: Value, change: Callable[[Any], Any]) -> Value:
    if isinstance(value, tuple):
        return tuple(_each(part, change) for part in value)
    return change(value)


# --- on NumPy ------------------------------------------------------------------------------------


def _host() -> FlatArrays:
    below: Any = NUMPY
    return flat_arrays(below)


def on_host(meaning: Meaning) -> Meaning:
    def does(xp: Any, *args: Any, **attributes: Any) -> Value:
        if isinstance(xp, FlatArrays):
            return applied(meaning, xp, _host(), to_host, xp.xp.asarray, *args, **attributes)
        made = meaning(NUMPY, *(_each(arg, partial(_to_host, xp)) for arg in args), **attributes)
        return _each(made, xp.asarray)

    # compiled, NumPy's arrays would be tensors
    kept: Meaning = torch.compiler.disable(does)
    return kept


def _to_host(xp: Any, x: Any) -> Any:
    """A function is applied where it is, to what comes from the host."""
    if isinstance(x, torch.Tensor):
        return to_host(x)
    if not callable(x):
        return x

    def function(*args: Any) -> Value:
        return _each(x(*map(xp.asarray, args)), to_host)

    return update_wrapper(function, x)
