"""The value of a tensor with a ragged dimension, `f32 [10,*,3]`.

A tensor is its rows along dimension 0. Where the rows vary in size it is a `Ragged`; a row is an
array, or a `Ragged` again (`[a,b,*,3]`, or `[docs,*,*]` where each sentence has its own length).
Only the rows have a meaning. How they are stored is a matter of speed:

    array with offsets     rows that differ in their first size only, end to end (the common case)
    Ragged with offsets    rows that are ragged: the rows of all of them, end to end
    tuple                  arrays that differ in a later size (`[n,3,*]`), as they are

Sizes are known on the host; values are NumPy's, JAX's or PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy

from axon.backends.ragged_host import cut, host, is_tensor, join, namespace, put
from axon.backends.row_facts import Offsets, RowFacts
from axon.ops.arrays import Array

Row = Any
"""An array or a `Ragged`."""


class RaggedError(ValueError):
    """Rows that do not make one tensor, or do not fit those of another."""


@dataclass(frozen=True, slots=True)
class Varying:
    """Which sizes of a row vary from row to row."""

    sizes: tuple[bool, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ragged:
    """Rows of one element type and one rank; `from_rows` and `from_packed` make it and check."""

    values: Any
    offsets: Offsets | None
    """Row `i` is `values[offsets[i]:offsets[i+1]]`; None where `values` are the rows."""

    varying: Varying | None = None
    """Which sizes of the rows vary, if that is known: they may agree by chance."""

    like: Row | None = None
    """Where there are no rows: what one would be."""

    facts: RowFacts = field(default_factory=RowFacts)
    """What is known of the offsets; tensors that share these share it."""

    @staticmethod
    def from_rows(
        rows: Iterable[Row], like: Row | None = None, varying: Varying | None = None
    ) -> Ragged:
        """The tensor of some rows. If there are none, `like` is a row of the same type.

        Rows may agree in a size by chance: `varying` states which of them vary.
        """
        rows = tuple(rows)
        if not rows and like is None:
            raise RaggedError(
                "without rows, the type of a row must be given: from_rows([], like=…)"
            )
        some = rows or (like,)
        namespace(*(row for row in some if not isinstance(row, Ragged)))  # arrays, all of them
        if rank(some[0]) == 0:
            raise RaggedError("a row needs a size that can vary, but these rows are single values")
        _check_alike(some)
        arrays = not any(isinstance(row, Ragged) for row in some)
        if arrays and varying is not None and (not varying.sizes[0] or any(varying.sizes[1:])):
            return Ragged(rows, None, varying, None if rows else like)
        some = rows or (part(like, 0, 0),)
        offsets = offsets_of([len(row) for row in rows])
        if any(isinstance(row, Ragged) for row in some):
            return Ragged(concat([split(row) for row in some]), offsets)
        if any(row.shape[1:] != some[0].shape[1:] for row in some):
            return Ragged(some, None)
        return Ragged(join("concatenate", some), offsets, None, None if rows else like)

    @staticmethod
    def from_packed(values: Row, offsets: Any) -> Ragged:
        """Rows that are stored end to end. Offsets of int64 are kept, not copied."""
        found = numpy.asarray(offsets)
        if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
            raise RaggedError("offsets are a list of integers, one more than there are rows")
        if rank(values) == 0:
            raise RaggedError("packed rows are an array, but this is a single value")
        if found[0] != 0:
            raise RaggedError(f"row 0 starts at 0, but the first offset is {found[0]}")
        if found[-1] != len(values):
            raise RaggedError(f"there are {len(values)} values, but the last offset is {found[-1]}")
        facts, kept = RowFacts(), found.astype(numpy.int64, copy=False)
        if kept.min() < 0 or facts.lengths(kept).min(initial=0) < 0:
            row = int((found[1:] < found[:-1]).argmax())
            raise RaggedError(f"row {row} starts at {found[row]} but ends at {found[row + 1]}")
        return Ragged(values, kept, facts=facts)

    # --- what it is -----------------------------------------------------------------------------

    @staticmethod
    def from_list(rows: Sequence[Any], dtype: Any = None) -> Ragged:
        """A list of arrays, or lists as deep as the tensor has dimensions."""
        from axon.backends import ragged_forms

        return ragged_forms.from_list(rows, dtype)

    @staticmethod
    def from_padded(array: Array, mask: Array | None = None, *, lengths: Any = None) -> Ragged:
        """The rows of an array, their lengths from a mask or a list."""
        from axon.backends import ragged_forms

        return ragged_forms.from_padded(array, mask, lengths=lengths)

    @staticmethod
    def from_awkward(array: Any) -> Ragged:
        from axon.backends import ragged_forms

        return ragged_forms.from_awkward(array)

    def to_list(self) -> list[Any]:
        from axon.backends import ragged_forms

        return ragged_forms.to_list(self)

    def to_padded(self, fill: Any = 0) -> tuple[Array, Array]:
        """All rows in one array, padded to the longest, and a mask of the valid elements."""
        from axon.backends import ragged_forms

        return ragged_forms.to_padded(self, fill)

    def to_awkward(self) -> Any:
        from axon.backends import ragged_forms

        return ragged_forms.to_awkward(self)

    @property
    def packed(self) -> tuple[Array, Offsets] | None:
        """One array and the offsets of its rows; None if the rows are not stored that way."""
        if self.offsets is None or isinstance(self.values, Ragged):
            return None
        return self.values, self.offsets

    @property
    def dtype(self) -> numpy.dtype[Any]:
        dtype: numpy.dtype[Any] = self._first.dtype
        return dtype

    @property
    def rank(self) -> int:
        """The number of dimensions, dimension 0 included."""
        return rank(self._first) + 1

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes, None where they vary. Rows that agree by chance vary in their first size."""
        if self.offsets is None:
            rows = self.values or (self._first,)
            sizes = [_common(found) for found in zip(*(row.shape for row in rows), strict=True)]
            if self.varying is not None:
                known = zip(sizes, self.varying.sizes, strict=True)
                sizes = [None if varies else size for size, varies in known]
            return len(self), *sizes
        values = self._first
        first = _common(self.lengths.tolist()) if isinstance(values, Ragged) else None
        if self.varying is not None and self.varying.sizes[0]:
            first = None
        return len(self), first, *values.shape[1:]

    @property
    def levels(self) -> tuple[int, ...]:
        """Over how many of the first dimensions each size varies; 0 where it does not."""
        sizes = self.shape
        if self.offsets is None or not isinstance(self._first, Ragged):
            return tuple(0 if size is not None else 1 for size in sizes)
        inner = (level + 1 if level else 0 for level in self.values.levels[1:])
        return 0, int(sizes[1] is None), *inner

    @property
    def lengths(self) -> Offsets:
        """The first size of each row."""
        if self.offsets is None:
            return numpy.array([len(row) for row in self.values], numpy.int64)
        return self.facts.lengths(self.offsets)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self)

    @property
    def empty_row(self) -> Row:
        """A row without elements: it has the type of the rows, also if there are none."""
        return part(self._first, 0, 0)

    @property
    def xp(self) -> Any:
        """The namespace of its arrays: `numpy` or `jax.numpy`."""
        return self._first.xp if isinstance(self._first, Ragged) else namespace(self._first)

    @property
    def stored(self) -> Any:
        """The values; there may be something behind them."""
        return self.values

    @property
    def _first(self) -> Row:
        """A stored value of the rank and the element type of a row."""
        if self.offsets is None:
            return self.values[0] if self.values else self.like
        return self.stored

    def __len__(self) -> int:
        return len(self.values) if self.offsets is None else len(self.offsets) - 1

    def __iter__(self) -> Iterator[Row]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Row:
        """A row; a view if the values are NumPy's."""
        index = range(len(self))[index]
        if self.offsets is None:
            return self.values[index]
        return part(self.values, int(self.offsets[index]), int(self.offsets[index + 1]))

    def __repr__(self) -> str:
        element, sizes = show_element(self.dtype), show_sizes(self.shape)
        return f"Ragged {element} {sizes}: {_show(self.on_host())}"

    # --- what is done with it -------------------------------------------------------------------

    def map_values(self, function: Callable[..., Array], *others: Ragged) -> Ragged:
        """A pointwise function of tensors that have the same rows, in one call if they are packed.

        The result shares the offsets object of this one, so that `same_rows` of the two is
        immediate.
        """
        every = (self, *others)
        if not all(same_rows(self, other) for other in others):
            raise RaggedError("the tensors have rows of different sizes")
        if all(each.packed for each in every):
            values = function(*(each.values for each in every))
            if values.shape[:1] != self.values.shape[:1]:
                made, count = show_sizes(values.shape), len(self.values)
                raise RaggedError(f"a pointwise function of {count} values made {made}")
            return Ragged(values, self.offsets, facts=self.facts)
        if all(isinstance(each.values, Ragged) for each in every):
            values = self.values.map_values(function, *(other.values for other in others))
            return Ragged(values, self.offsets, facts=self.facts)
        like = None if len(self) else _pointwise(function, [each.empty_row for each in every])
        rows = (_pointwise(function, each) for each in zip(*every, strict=True))
        return Ragged.from_rows(rows, like, self.varying)

    def each_array(self, change: Callable[[Array], Array]) -> Ragged:
        """The same with each array replaced by one of the same sizes."""

        def of(row: Row) -> Row:
            return row.each_array(change) if isinstance(row, Ragged) else change(row)

        values = tuple(map(of, self.values)) if self.offsets is None else of(self.values)
        like = None if self.like is None else of(self.like)
        return replace(self, values=values, like=like)

    def on_host(self) -> Ragged:
        """The same with NumPy arrays."""
        return self.put(numpy)

    def put(self, xp: Any) -> Ragged:
        """The same with arrays of that namespace."""
        return self if self.xp is xp else self.map_values(partial(put, xp))

    def take(self, indices: Any) -> Ragged:
        """The rows at some indices: a list of them, a mask or a slice."""
        index = indices if isinstance(indices, slice) else numpy.asarray(indices)
        if not isinstance(index, slice) and index.size == 0:
            index = index.astype(int)  # NumPy takes an empty list for one of floats
        chosen = numpy.arange(len(self))[index]
        if chosen.ndim != 1:
            raise RaggedError(
                f"rows are taken by a list of indices, not {show_sizes(chosen.shape)}"
            )
        rows = self.on_host()
        chosen_rows = (rows[i] for i in chosen)
        return Ragged.from_rows(chosen_rows, rows.empty_row, self.varying).put(self.xp)

    def reverse(self) -> Ragged:
        """The rows, the last one first."""
        return self.take(slice(None, None, -1))


def rank(row: Row) -> int:
    return row.rank if isinstance(row, Ragged) else numpy.ndim(row)


def offsets_of(lengths: Any) -> Offsets:
    """Where rows of these lengths start and end, stored end to end."""
    return numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(numpy.int64)


def split(row: Row) -> Ragged:
    """An array as rows that happen to be equal in size."""
    if isinstance(row, Ragged):
        return row
    count, length, *inner = row.shape
    values = put(namespace(row), host(row).reshape(count * length, *inner))
    return Ragged(values, numpy.arange(count + 1) * length)


def same_rows(a: Ragged, b: Ragged) -> bool:
    """Whether the rows of two tensors have the same sizes, wherever sizes vary."""
    if a.offsets is None or b.offsets is None:
        pairs = zip(a.on_host(), b.on_host(), strict=False)
        return len(a) == len(b) and all(_same_size(x, y) for x, y in pairs)
    if a.offsets is not b.offsets and not numpy.array_equal(a.offsets, b.offsets):
        return False
    if isinstance(a.values, Ragged) or isinstance(b.values, Ragged):
        return _same_size(a.values, b.values)
    return True


def concat(parts: Sequence[Ragged], axis: int = 0) -> Ragged:
    """Along dimension 0, the rows of each; along a later one, row by row."""
    if not parts or not all(isinstance(each, Ragged) for each in parts):
        raise RaggedError("ragged tensors are joined with ragged tensors, one or more")
    _check_alike(parts)
    if not -parts[0].rank <= axis < parts[0].rank:
        raise RaggedError(f"a tensor of rank {parts[0].rank} has no axis {axis}")
    axis %= parts[0].rank
    xp = next((each.xp for each in parts if each.xp is not numpy), numpy)
    hosted = [each.on_host() for each in parts]
    return (_beside(hosted, axis) if axis else _below(hosted)).put(xp)


def _below(parts: Sequence[Ragged]) -> Ragged:
    offsets = offsets_of(numpy.concatenate([each.lengths for each in parts]))
    if all(isinstance(each.values, Ragged) for each in parts):
        return Ragged(concat([each.values for each in parts]), offsets)
    if all(each.packed and each.values.shape[1:] == parts[0].values.shape[1:] for each in parts):
        return Ragged(join("concatenate", [each.values for each in parts]), offsets)
    return Ragged.from_rows(chain(*parts), parts[0].empty_row)


def _beside(parts: Sequence[Ragged], axis: int) -> Ragged:
    if len({len(each) for each in parts}) > 1:
        counts = " and ".join(str(len(each)) for each in parts)
        raise RaggedError(f"tensors of {counts} rows cannot be joined row by row")
    if axis > 1 and all(each.packed and same_rows(parts[0], each) for each in parts):
        return Ragged(
            _join([each.values for each in parts], axis - 1), parts[0].offsets, facts=parts[0].facts
        )
    like = None if len(parts[0]) else _join([each.empty_row for each in parts], axis - 1)
    return Ragged.from_rows((_join(rows, axis - 1) for rows in zip(*parts, strict=True)), like)


def _join(rows: Sequence[Row], axis: int) -> Row:
    if any(isinstance(row, Ragged) for row in rows):
        return concat([split(row) for row in rows], axis)
    if len({(*row.shape[:axis], *row.shape[axis + 1 :]) for row in rows}) > 1:
        sizes = " and ".join(show_sizes(row.shape) for row in rows)
        raise RaggedError(f"rows of {sizes} cannot be joined along axis {axis}")
    return join("concatenate", rows, axis)


def part(row: Row, start: int, stop: int) -> Row:
    """`row[start:stop]`, of an array or of ragged rows."""
    if not isinstance(row, Ragged):
        return cut(row, start, stop)
    if row.offsets is None:
        return Ragged.from_rows(row.values[start:stop], row.empty_row)
    offsets = row.offsets[start : stop + 1]
    return Ragged(part(row.values, int(offsets[0]), int(offsets[-1])), offsets - offsets[0])


def _pointwise(function: Callable[..., Array], rows: Sequence[Row]) -> Row:
    if any(isinstance(row, Ragged) for row in rows):
        first, *others = map(split, rows)
        return first.map_values(function, *others)
    return function(*rows)


def _same_size(a: Row, b: Row) -> bool:
    if isinstance(a, Ragged) or isinstance(b, Ragged):
        return rank(a) > 1 and rank(b) > 1 and same_rows(split(a), split(b))
    return bool(a.shape == b.shape)


def _check_alike(rows: Sequence[Row]) -> None:
    for row in rows:
        if rank(row) != rank(rows[0]):
            raise RaggedError(f"some rows have rank {rank(rows[0])}, others {rank(row)}")
        if row.dtype != rows[0].dtype:
            names = f"{show_element(rows[0].dtype)}, others {show_element(row.dtype)}"
            raise RaggedError(f"some rows are {names}")


def _common(sizes: Iterable[int | None]) -> int | None:
    """The size that all have; None if they differ."""
    found = set(sizes)
    return found.pop() if len(found) == 1 else None


# --- as text ------------------------------------------------------------------------------------


def show_element(dtype: Any) -> str:
    """`f32`, as the language writes it."""
    name = str(dtype).removeprefix("torch.")
    if name == "bfloat16":
        return "bf16"
    dtype = numpy.dtype(name if name != str(dtype) else dtype)
    if dtype.name == "bool":
        return "bool"
    return f"{dtype.kind}{8 * dtype.itemsize}"


def show_sizes(sizes: Iterable[int | None]) -> str:
    """`[10,*,3]`"""
    return f"[{','.join('*' if size is None else str(size) for size in sizes)}]"


def _show(row: Row, most: int = 3) -> str:
    if not isinstance(row, Ragged):
        if is_tensor(row):
            row = (
                row.detach().float().cpu().numpy() if row.is_floating_point() else row.cpu().numpy()
            )
        if not isinstance(row, numpy.ndarray):
            return str(row)  # traced
        return " ".join(numpy.array2string(row, threshold=6, edgeitems=2).split())
    shown = [_show(row[i]) for i in range(min(len(row), most))]
    return f"[{', '.join(shown + ['…'] * (len(row) > most))}]"
