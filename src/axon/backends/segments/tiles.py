"""Matrices of the rows whose sizes both differ, as scores of attention are: cut into square tiles
of one size, all in one array. What a tile has beyond its matrix repeats the last row or column, so
that nothing is there that is not in the matrix too; sums and the like leave it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from axon.backends.segments.frames import Frame, NotFlat, Segments
from axon.backends.segments.reduce import combined
from axon.backends.segments.rows import ByRow, Rows, taken
from axon.ops.arrays import Array


class Edge:
    """One side of the matrices: rows of elements, cut into chunks of one size. The last chunk of a
    row repeats its last element.
    """

    def __init__(self, xp: Any, segments: Segments, size: int) -> None:
        self.xp = xp
        self.segments = segments
        self.size = size
        self.count = segments.chunks(size)

    def placed(self, name: str) -> Any:
        return self.segments.placed(self.xp, name)

    @cached_property
    def chunks(self) -> Any:
        """How many chunks each row has."""
        return (self.placed("lengths") + (self.size - 1)) // self.size

    @cached_property
    def first(self) -> Any:
        """The number of the first chunk of each row."""
        return self.chunks.cumsum(0) - self.chunks

    @cached_property
    def rows(self) -> Any:
        """The row of each chunk."""
        return self.xp.spread(None, self.chunks, self.count)

    @cached_property
    def _places(self) -> Any:
        """The place in its row of each element of each chunk."""
        own = self.xp.arange(self.count) - taken(self.xp, self.first, self.rows)
        return own[:, None] * self.size + self.xp.arange(self.size)[None]

    @cached_property
    def _lengths(self) -> Any:
        return taken(self.xp, self.placed("lengths"), self.rows)[:, None]

    @cached_property
    def within(self) -> Any:
        """The same, where elements that are none have the place of the last."""
        xp = self.xp
        return xp.maximum(xp.minimum(self._places, self._lengths - 1), 0)

    @cached_property
    def true(self) -> Any:
        """Whether an element of a chunk is one of the row."""
        return self._places < self._lengths

    @cached_property
    def _index(self) -> Any:
        index = taken(self.xp, self.placed("starts"), self.rows)[:, None] + self.within
        return self.xp.clip(index, 0, max(self.segments.total - 1, 0)).reshape(-1)

    def cut(self, values: Array) -> Array:
        """Packed elements, in chunks."""
        made = taken(self.xp, values, self._index)
        return made.reshape(self.count, self.size, *values.shape[1:])

    def joined(self, chunks: Array) -> Array:
        """The packed elements of chunks."""
        ids, within = self.placed("ids"), self.placed("within")
        ids = self.xp.minimum(ids, self.segments.count - 1)
        place = taken(self.xp, self.first, ids) * self.size + within
        place = self.xp.clip(place, 0, max(self.count * self.size - 1, 0))
        return taken(self.xp, chunks.reshape(-1, *chunks.shape[2:]), place)


class Tiling:
    """Where the tiles of the matrices of all rows of a frame are: which chunk of which edge."""

    def __init__(self, frame: Frame, down: Edge, across: Edge) -> None:
        self.frame = frame
        self.xp = down.xp
        self.down = down
        self.across = across
        self.size = down.size
        self.count = down.segments.tiles(across.segments, down.size)
        self.in_order = True
        """Whether tiles of one chunk of the side are next to each other."""

    @cached_property
    def transposed(self) -> Tiling:
        """That of the transposed matrices, whose tiles have the same order."""
        made = Tiling.__new__(Tiling)
        made.frame, made.xp, made.size, made.count = self.frame, self.xp, self.size, self.count
        made.down, made.across = self.across, self.down
        made.in_order = False
        own, other = self.pair
        known = {"rows": self.rows, "_numbers": self._numbers, "pair": (other, own)}
        made.__dict__.update(known, transposed=self)
        return made

    @cached_property
    def _each(self) -> Any:
        return self.down.chunks * self.across.chunks

    @cached_property
    def rows(self) -> Any:
        """The row of each tile."""
        return self.xp.spread(None, self._each, self.count)

    @cached_property
    def _numbers(self) -> Any:
        """The number of each tile among those of its row."""
        before = self._each.cumsum(0) - self._each
        return self.xp.arange(self.count) - taken(self.xp, before, self.rows)

    @cached_property
    def pair(self) -> tuple[Any, Any]:
        """The chunk of the side, and of the top, of each tile."""
        xp, down, across = self.xp, self.down, self.across
        width = xp.maximum(taken(xp, across.chunks, self.rows), 1)
        own = taken(xp, down.first, self.rows) + self._numbers // width
        other = taken(xp, across.first, self.rows) + self._numbers % width
        return (
            xp.clip(own, 0, max(down.count - 1, 0)),
            xp.clip(other, 0, max(across.count - 1, 0)),
        )

    @cached_property
    def true_columns(self) -> Any:
        """Of each tile which columns belong to the matrix; none of a tile that is none."""
        found = taken(self.xp, self.across.true, self.pair[1])
        if not self.down.segments.traced:
            return found
        return found & (self._numbers < taken(self.xp, self._each, self.rows))[:, None]

    def same(self, other: Tiling) -> bool:
        return self is other or (
            self.frame is other.frame
            and self.in_order == other.in_order
            and self.down.segments.same(other.down.segments)
            and self.across.segments.same(other.across.segments)
        )

    def arranged(self, x: Tiles) -> Array:
        """The values of matrices of the same sizes, in the order of these tiles."""
        if self.same(x.tiling):
            return x.values
        if not self.same(x.tiling.transposed) or not self.down.segments.same(self.across.segments):
            raise NotFlat("matrices of different sizes")
        places = self._turned if self.in_order else x.tiling._turned
        return taken(self.xp, x.values, places)

    @cached_property
    def _turned(self) -> Any:
        """Where the tile stands that a tile of a square becomes when the matrix is transposed."""
        xp = self.xp
        width = xp.maximum(taken(xp, self.down.chunks, self.rows), 1)
        other = self._numbers % width * width + self._numbers // width
        first = xp.arange(self.count) - self._numbers
        return xp.clip(first + other, 0, max(self.count - 1, 0))

    def side(self, values: Array) -> Array:
        """Packed elements of the side, for each tile: a new dimension behind that of the tiles."""
        return taken(self.xp, self.down.cut(values), self.pair[0])

    def top(self, values: Array) -> Array:
        return taken(self.xp, self.across.cut(values), self.pair[1])

    def combined(self, kind: str, values: Array, neutral: Any) -> Array:
        """What the tiles of a chunk of the side have, combined, for the packed elements of the
        side; where there are no tiles the neutral value.
        """
        places, count = self.pair[0], self.down.count
        made = combined(self.xp, kind, values, places, count, neutral, self.in_order)
        return self.down.joined(made)


class Tiles(ByRow):
    """A matrix of each row, or several. `values` have the dimensions: tiles, those of the several
    matrices, and the two of a tile. They may be made when they are asked for: `scores` says what
    they are, for a kernel that needs them not.
    """

    __slots__ = ("_make", "_values", "batch", "dtype", "frame", "scores", "tiling")

    def __init__(self, tiling: Tiling, values: Array) -> None:
        self.tiling = tiling
        self.frame = tiling.frame
        self._values = values
        self._make: Callable[[], Tiles] | None = None
        self.batch: tuple[int, ...] = tuple(values.shape[1:-2])
        self.dtype: Any = values.dtype
        self.scores: Any = None

    @staticmethod
    def later(
        tiling: Tiling, make: Callable[[], Tiles], batch: Sequence[int], dtype: Any, scores: Any
    ) -> Tiles:
        made = Tiles.__new__(Tiles)
        made.tiling, made.frame, made.dtype = tiling, tiling.frame, dtype
        made._values, made._make, made.batch, made.scores = None, make, tuple(batch), scores
        return made

    @property
    def values(self) -> Array:
        if self._make is not None:
            self._values, self._make = self._make().values, None
        return self._values

    @property
    def ndim(self) -> int:
        return len(self.batch) + 2

    @property
    def shape(self) -> tuple[Any, ...]:
        sides = (self.tiling.down.segments, self.tiling.across.segments)
        counts = tuple(side.counts(self.frame) for side in sides)
        return (*self.batch, *counts)


def tiling_of(frame: Frame, down: Segments, across: Segments) -> Tiling:
    """How the matrices with these sides are cut; the same for the same sides."""
    if frame.tilings is None:
        raise NotFlat("a product of rows that differ in size")
    xp = frame.arrays.xp
    for known in frame.tilings:
        if known.down.segments.same(down) and known.across.segments.same(across):
            found: Tiling = known
            return found
    size = max(down.near(), across.near())
    made = Tiling(frame, Edge(xp, down, size), Edge(xp, across, size))
    frame.tilings.append(made)
    return made


def no_row_is_open(x: Tiles) -> bool:
    """Whether some row has elements on the side, and none on top."""
    tall, wide = x.tiling.down.segments, x.tiling.across.segments
    if tall is wide:
        return False
    if tall.traced or wide.traced:
        return wide.any_empty
    return bool(((tall.lengths > 0) & (wide.lengths == 0)).any())


def packed_at(x: Any, behind: int) -> bool:
    """Whether rows stand end to end along an axis, counted from the end; no other varies."""
    return (
        type(x) is Rows
        and x.segments is not None
        and not isinstance(x.values, Rows)
        and x.place - x.ndim == behind
    )
