"""Buckets: the sizes that dimensions are padded to, by their names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy


@dataclass(frozen=True, slots=True)
class Policy:
    """The buckets of a dimension: powers of two, multiples of a number, or those in a list; each is
    rounded up to a multiple of `parts`, those that devices cut it into.
    """

    multiple: int = 0
    listed: tuple[int, ...] = ()
    parts: int = 1

    def bucket(self, size: int) -> int:
        """The least bucket that a size fits into; the size itself where there is none, and where it
        is 0 or 1, which may broadcast.
        """
        if size < 2:
            return size
        return -(-self._bucket(size) // self.parts) * self.parts

    def _bucket(self, size: int) -> int:
        if self.listed:
            at = bisect_left(self.listed, size)
            return self.listed[at] if at < len(self.listed) else size
        if self.multiple:
            return -(-size // self.multiple) * self.multiple
        return 1 << (size - 1).bit_length()

    def __str__(self) -> str:
        cut = f", rounded up to what {self.parts} devices divide" if self.parts > 1 else ""
        if self.listed:
            return f"to {', '.join(map(str, self.listed))}" + cut
        return (f"to multiples of {self.multiple}" if self.multiple else "to powers of two") + cut


@dataclass(frozen=True, slots=True)
class Buckets:
    """The policies, by names of dimensions; None for powers of two of all that can be padded.
    `fill` and `poison` are for tests: what stands in the padding of arguments, and what all other
    padding is filled with.
    """

    named: Mapping[str, Policy] | None
    fill: float = 0.0
    poison: float | None = None

    def of(self, name: str) -> Policy | None:
        """The policy of a dimension; a size of a shape, `a[0]`, has the name of the shape too."""
        if self.named is None:
            return Policy()
        return self.named.get(name) or self.named.get(name.partition("[")[0])


def standing(dtype: Any, fill: float) -> Any:
    """What stands in padding, as an element: a large integer where the fill is none."""
    kind = numpy.dtype(dtype).kind
    if kind == "b":
        return bool(fill)
    if kind in "iu" and not abs(fill) < 1e9:
        return numpy.iinfo(dtype).max // 2
    return numpy.asarray(fill).astype(dtype)
