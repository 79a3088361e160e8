"""Conversion of ragged tensors from and to the forms of other programs.

lists          of rows, nested as deep as the tensor
padded         an array as large as the largest row, and a mask
Awkward        an `ak.Array`, its `var` dimensions the ones that vary
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from math import prod
from typing import Any

import numpy

from axon.backends.ragged import (
    Ragged,
    RaggedError,
    Row,
    Varying,
    offsets_of,
    part,
    rank,
    show_element,
    show_sizes,
    split,
)
from axon.backends.ragged_host import host, join, namespace, put
from axon.ops.arrays import Array
from axon.ops.memory import Refused, check_fits

# --- lists --------------------------------------------------------------------------------------


Sizes = tuple[int | None, ...]
"""The sizes of a tensor's dimensions, None where they are not known."""


def from_list(rows: Sequence[Any], dtype: Any = None, sizes: Sizes | None = None) -> Ragged:
    """A list of rows: arrays, or lists as deep as the tensor has dimensions.

    Lists inside a row are ragged where they differ in size. An empty one has the inner sizes of its
    siblings, or those of `sizes`.
    """
    found = [numpy.dtype(dtype)] if dtype is not None else list(_elements(rows))
    element = numpy.result_type(*found) if found else numpy.dtype(numpy.float64)
    sizes = (None,) * _depth(rows) if sizes is None else sizes
    return Ragged.from_rows(_read_rows(rows, element, sizes), _no_rows(element, sizes[1:]))


def _no_rows(element: numpy.dtype[Any], sizes: Sizes) -> Array:
    """A tensor of zero rows of these sizes."""
    try:
        check_fits((0, *(size or 0 for size in sizes[1:])), element.itemsize)
    except Refused as problem:
        raise RaggedError(str(problem)) from None
    return numpy.empty((0, *(size or 0 for size in sizes[1:])), element)


def to_list(x: Ragged) -> list[Any]:
    return [to_list(row) if isinstance(row, Ragged) else row.tolist() for row in x.on_host()]


def _depth(x: Any) -> int:
    return 1 + max(map(_depth, x), default=0) if isinstance(x, list | tuple) else rank(x)


def _elements(x: Any) -> Iterator[numpy.dtype[Any]]:
    """The element types of the arrays and the numbers in a list."""
    if isinstance(x, list | tuple):
        for row in x:
            yield from _elements(row)
    else:
        yield numpy.dtype(x.dtype) if hasattr(x, "dtype") else numpy.asarray(x).dtype


def _read_rows(rows: Sequence[Any], element: numpy.dtype[Any], sizes: Sizes) -> list[Row]:
    """The rows of a list that stands for a tensor of so many dimensions."""
    found = [_read(row, element, sizes[1:]) for row in rows]
    blank = [isinstance(row, list | tuple) and not row for row in rows]
    full = [row for row, no in zip(found, blank, strict=True) if not no]
    if not any(blank) or not full:
        return found
    empty = part(max(full, key=lambda row: len(row) > 0), 0, 0)
    return [empty if no else row for row, no in zip(found, blank, strict=True)]


def _read(x: Any, element: numpy.dtype[Any], sizes: Sizes) -> Row:
    depth = len(sizes)
    if not isinstance(x, list | tuple):
        if rank(x) != depth:
            raise RaggedError(f"the rows are nested to different depths: a part has rank {rank(x)}")
        if not hasattr(x, "dtype"):
            return numpy.asarray(x, element)
        if isinstance(x, Ragged):
            return x.map_values(lambda values: values.astype(element))
        return x if x.dtype == element else x.astype(element)
    if not x:
        return _no_rows(element, sizes) if depth else numpy.empty(0, element)
    if depth == 1 and not any(isinstance(each, list | tuple) or rank(each) for each in x):
        return numpy.array(x, element)
    rows = _read_rows(x, element, sizes)
    if any(isinstance(row, Ragged) or row.shape != rows[0].shape for row in rows):
        return Ragged.from_rows(rows)
    return join("stack", rows)


def arranged(x: Ragged, vary: tuple[bool, ...]) -> Ragged:
    """The same rows, stored by which of their sizes vary. They may agree by chance where they vary;
    where they do not vary but differ, they are left as they are.
    """
    if x.offsets is None or not isinstance(x.stored, Ragged):
        if vary == tuple(size is None for size in x.shape[1:]):
            return x
        like = x.empty_row if x.like is None else x.like
        return Ragged.from_rows(x.rows, like, Varying(vary))
    inner = arranged(x.values, vary[1:]) if any(vary[1:]) else _as_array(x.values)
    if isinstance(inner, Ragged):
        return Ragged(inner, x.offsets, Varying(vary))
    return arranged(Ragged(inner, x.offsets), vary)


def _as_array(x: Ragged) -> Row:
    """Rows that happen to have one size as an array."""
    rows = [_as_array(row) if isinstance(row, Ragged) else row for row in x.rows]
    if not rows or any(isinstance(row, Ragged) or row.shape != rows[0].shape for row in rows):
        return x
    return join("stack", rows)


# --- padded arrays ------------------------------------------------------------------------------


def from_padded(array: Array, mask: Array | None = None, *, lengths: Any = None) -> Ragged:
    """The valid elements of a padded array: where the mask is true, or the first ones of each row
    by its length.

    The last dimension of the mask becomes the one that varies; those before it do not.
    """
    if (mask is None) == (lengths is None):
        raise RaggedError("give either a mask or lengths, to tell elements from padding")
    mask = numpy.asarray(mask) if lengths is None else _first_so_many(array, numpy.asarray(lengths))
    if mask.dtype.kind != "b" or mask.ndim < 2 or mask.shape != array.shape[: mask.ndim]:
        given = f"{show_element(mask.dtype)} {show_sizes(mask.shape)}"
        whole = show_sizes(array.shape)
        raise RaggedError(f"a mask of {whole} is bool and has its first sizes, but this is {given}")
    values = put(namespace(array), host(array)[put(namespace(host(array)), mask)])
    result = Ragged(values, offsets_of(mask.sum(axis=-1).reshape(-1)))
    for axis in range(mask.ndim - 2, 0, -1):
        result = Ragged(result, numpy.arange(prod(mask.shape[:axis]) + 1) * mask.shape[axis])
    return result


def _first_so_many(array: Array, lengths: Array) -> Array:
    if array.ndim <= lengths.ndim or lengths.shape != array.shape[: lengths.ndim]:
        given, whole = show_sizes(lengths.shape), show_sizes(array.shape)
        raise RaggedError(f"lengths of {given} do not say how long the rows of {whole} are")
    padded = array.shape[lengths.ndim]
    if lengths.dtype.kind not in "iu" or ((lengths < 0) | (lengths > padded)).any():
        raise RaggedError(f"a length is an integer from 0 to the padded size, {padded}")
    return numpy.arange(padded) < lengths[..., None]


def to_padded(x: Ragged, fill: Any = 0) -> tuple[Array, Array]:
    """An array as large as the largest row, and a mask of the valid elements.

    The mask has the dimensions up to the last one that varies.
    """
    sizes = _largest_sizes(x)
    depth = max(axis for axis, size in enumerate(x.shape) if size is None) + 1
    xp = x.xp if hasattr(x.xp, "device") else numpy  # JAX's rows are put together by NumPy
    array = xp.full(sizes, fill, dtype=x.dtype)
    mask = numpy.zeros(sizes[:depth], bool)
    for index, leaf in _leaves(x.on_host()):
        place: tuple[Any, ...] = (*index, *map(slice, leaf.shape))
        array[place] = leaf
        mask[place[:depth]] = True
    return put(x.xp, array), put(x.xp, mask)


def _largest_sizes(x: Ragged) -> tuple[int, ...]:
    """The largest size along each dimension."""
    if x.offsets is None:
        return len(x), *map(max, zip(*(row.shape for row in x.values), strict=True))
    inner = _largest_sizes(x.values) if isinstance(x.values, Ragged) else x.values.shape
    return len(x), max(x.lengths.tolist(), default=0), *inner[1:]


def _leaves(x: Ragged) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Each dense part, and its position."""
    for i, row in enumerate(x):
        if isinstance(row, Ragged):
            yield from (((i, *index), leaf) for index, leaf in _leaves(row))
        else:
            yield (i,), row


# --- Awkward ------------------------------------------------------------------------------------


def from_awkward(array: Any) -> Ragged:
    """An Awkward Array of numbers. Its `var` dimensions vary, its regular ones do not;
    `ak.to_regular` converts the one to the other.
    """
    found = _from_layout(_awkward().to_packed(array).layout)
    if rank(found) < 2:
        raise RaggedError(f"an Awkward Array with rows was expected, not {array.type}")
    return split(found)


def to_awkward(x: Ragged) -> Any:
    """The Awkward Array; dimensions that do not vary inside the rows are regular."""
    awkward = _awkward()
    if x.offsets is None:
        return to_awkward(Ragged.from_rows(split(row) for row in x.on_host()))
    if isinstance(x.values, Ragged):
        content = to_awkward(x.values).layout
    else:
        content = awkward.from_numpy(numpy.asarray(x.values), regulararray=True).layout
    index = awkward.index.Index64(x.offsets)
    return awkward.Array(awkward.contents.ListOffsetArray(index, content))


def _from_layout(layout: Any) -> Row:
    kind = type(layout).__name__
    if layout.parameter("__array__") is not None:
        kind = layout.parameter("__array__")  # a string, a category, …
    match kind:
        case "NumpyArray" if layout.dtype.kind in "biuf":
            return numpy.asarray(layout.data)
        case "EmptyArray":
            return numpy.empty(0)
        case "RegularArray":
            inner = _from_layout(layout.content)
            if not isinstance(inner, Ragged):
                return inner.reshape(len(layout), layout.size, *inner.shape[1:])
            return Ragged(inner, numpy.arange(len(layout) + 1) * layout.size)
        case "ListOffsetArray":
            return Ragged.from_packed(_from_layout(layout.content), layout.offsets)
        case _:
            raise RaggedError(f"an Awkward Array of numbers was expected, but this holds a {kind}")


def _awkward() -> Any:
    try:
        return import_module("awkward")
    except ImportError as missing:
        raise ImportError(
            "Awkward Arrays need the package awkward: pip install awkward"
        ) from missing
