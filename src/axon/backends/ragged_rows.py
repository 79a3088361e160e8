"""A function applied to each row of ragged tensors, row by row or many rows at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy

from axon.backends.ragged import Ragged, RaggedError, Row, Varying, rank, show_sizes
from axon.backends.ragged_host import host, join, namespace, put, zeros
from axon.backends.row_facts import Offsets
from axon.ops.arrays import Array, Value

Key = TypeVar("Key", bound=Hashable)

Which = Any
"""Which results vary in size: a bool, a `Varying`, or a tuple of them for a tuple of results."""


def groups(lengths: Iterable[Key]) -> list[tuple[Key, Offsets]]:
    """The lengths in order of appearance, each with the indices of the rows that have it."""
    found: dict[Key, list[int]] = {}
    for row, length in enumerate(lengths):
        found.setdefault(length, []).append(row)
    return [(length, numpy.array(rows, numpy.int64)) for length, rows in found.items()]


def map_rows(
    function: Callable[..., Value],
    args: Sequence[Row],
    *,
    ragged_result: Which = False,
    batched: Callable[..., Value] | None = None,
    like: Value | None = None,
    blank: Value | None = None,
) -> Value:
    """The function on corresponding rows of some tensors; the results are rows of a tensor.

    The caller decides whether that tensor is a `Ragged`: rows may be equal in size by chance.

    `batched` is the function on many rows at once, each argument and each result with a leading
    dimension. It is called with rows of equal sizes, their number padded to a power of two with
    copies of the last, so that a compiler sees few sizes: at most log2(rows) + 1 for each size of
    row. Rows that are ragged themselves are processed one by one.

    Without rows, `like` is a sample of a result; else the function is tried on rows of zeros. If
    that fails, the result is like `blank`.
    """
    count = _count(args)
    if count == 0:
        sample = _tried(function, args, blank) if like is None else like
        return _tensor([], ragged_result, sample, _home(sample))
    if batched is None or any(isinstance(arg, Ragged) and not _flat(arg) for arg in args):
        rows = [arg if isinstance(arg, Ragged) else _rows(arg) for arg in args]
        results = [function(*each) for each in zip(*rows, strict=True)]
        home = _home(results[0])
    else:
        results, home = _many(batched, args)
    return _tensor(results, ragged_result, results[0], home)


def rows_of(results: list[Value], ragged_result: Which, like: Value) -> Value:
    """Results as rows of a tensor; `like` is a sample of them."""
    return _tensor(results, ragged_result, like, _home(like))


def _tried(function: Callable[..., Value], args: Sequence[Row], blank: Value | None) -> Value:
    """The result of the function for a row of zeros: of length one where sizes vary, or zero if
    that fails. Such a row may be impossible in the program.
    """
    for length in (1, 0):
        with suppress(Exception):  # libraries raise errors of every type for sizes that do not fit
            return function(*(zeros_row(arg, length) for arg in args))
    if blank is None:
        raise RaggedError("without rows, the type of the function's result is not known")
    return blank


def _count(args: Sequence[Row]) -> int:
    counts = [len(arg) for arg in args]
    if not counts:
        raise RaggedError("a function is mapped over the rows of one tensor or more")
    if min(counts) != max(counts):
        numbers = " and ".join(map(str, counts))
        raise RaggedError(f"tensors of {numbers} rows do not go side by side")
    return counts[0]


def _flat(arg: Ragged) -> bool:
    """Whether the rows are arrays."""
    return not isinstance(arg.values, Ragged)


def _rows(array: Array) -> list[Array]:
    xp = namespace(array)
    return [put(xp, row) for row in host(array)]


def _many(batched: Callable[..., Value], args: Sequence[Row]) -> tuple[list[Value], Any]:
    """The result of each row, computed in groups and cut on the host; and its namespace."""
    homes = [_home(arg) for arg in args]
    hosted = [arg.on_host().rows if isinstance(arg, Ragged) else host(arg) for arg in args]
    sizes = [[row.shape for row in rows] for rows in hosted if isinstance(rows, tuple)]
    results: list[Value] = [None] * len(args[0])
    home: Any = numpy
    for _, members in groups(zip(*sizes, strict=True) if sizes else [()] * len(args[0])):
        padded = 1 << (len(members) - 1).bit_length()
        filled = numpy.concatenate([members, members[-1:].repeat(padded - len(members))])
        stacks = [
            join("stack", [rows[i] for i in filled]) if isinstance(rows, tuple) else rows[filled]
            for rows in hosted
        ]
        stack = batched(*map(put, homes, stacks))
        for row, result in zip(members, _unstacked(stack, len(members)), strict=True):
            results[row] = result
        home = _home(stack)
    return results, home


def _unstacked(stack: Value, count: int) -> list[Value]:
    """The first `count` rows of a stacked result."""
    if isinstance(stack, tuple):
        parts = [_unstacked(part, count) for part in stack]
        return list(zip(*parts, strict=True)) if parts else [()] * count
    return list(host(stack)[:count])


def _home(value: Value) -> Any:
    """The namespace of the arrays in a value; JAX's if there are both."""
    if isinstance(value, tuple):
        return next((home for home in map(_home, value) if home is not numpy), numpy)
    return value.xp if isinstance(value, Ragged) else namespace(value)


def _tensor(rows: Sequence[Value], ragged: Which, sample: Value, home: Any) -> Value:
    """The results of all rows, each like the sample, as one tensor; or as a tuple of tensors."""
    if isinstance(sample, tuple):
        which = ragged if isinstance(ragged, tuple) else (ragged,) * len(sample)
        return tuple(
            _tensor([row[i] for row in rows], which[i], part, home) for i, part in enumerate(sample)
        )
    if ragged or any(isinstance(row, Ragged) for row in rows):
        varying = ragged if isinstance(ragged, Varying) else None
        if varying is not None and len(varying.sizes) != rank(sample):
            varying = None  # part of the rank is known to the run only
        return Ragged.from_rows(rows, sample, varying).put(home)
    sizes = _sizes(sample)
    for row in rows or [sample]:
        if isinstance(row, Ragged) or _sizes(row) != sizes:
            found = f"{show_sizes(sizes)} and {show_sizes(_sizes(row))}"
            raise RaggedError(f"the results of rows do not stack, their sizes vary: {found}")
    if rows:
        return put(home, join("stack", rows))
    return zeros(home, (0, *(size or 0 for size in sizes)), getattr(sample, "dtype", None))


def _sizes(value: Row) -> tuple[int | None, ...]:
    return numpy.shape(value) if isinstance(value, bool | int | float) else tuple(value.shape)


def zeros_row(arg: Row, length: int) -> Row:
    """A row like those of the argument, with `length` zeros where sizes vary."""
    if not isinstance(arg, Ragged):
        return zeros(namespace(arg), arg.shape[1:], arg.dtype)
    if arg.varying is not None and _flat(arg):  # which of a row's sizes vary is known
        sizes = [length if size is None else size for size in arg.shape[1:]]
        return zeros(arg.xp, sizes, arg.dtype)
    row = arg.empty_row
    inner = zeros_row(row, length)
    if isinstance(row, Ragged):
        return Ragged.from_rows([inner] * length, inner)
    return inner[None] if length else row
