"""Buckets: the sizes that arguments are padded to, by the names of dimensions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from axon.run.errors import ArgumentError

HOW = (
    'buckets are "pow2", a number whose multiples they are, or a list of sizes: '
    'buckets={"n": "pow2", "b": 8, "m": [128, 256, 512]}, or buckets="auto"'
)


@dataclass(frozen=True, slots=True)
class Policy:
    """The buckets of a dimension: powers of two, multiples of a number, or those in a list."""

    multiple: int = 0
    listed: tuple[int, ...] = ()

    def bucket(self, size: int) -> int:
        """The least bucket that a size fits into; the size itself where there is none, and where it
        is 0 or 1, which may broadcast.
        """
        if size < 2:
            return size
        if self.listed:
            at = bisect_left(self.listed, size)
            return self.listed[at] if at < len(self.listed) else size
        if self.multiple:
            return -(-size // self.multiple) * self.multiple
        return 1 << (size - 1).bit_length()

    def __str__(self) -> str:
        if self.listed:
            return f"to {', '.join(map(str, self.listed))}"
        return f"to multiples of {self.multiple}" if self.multiple else "to powers of two"


@dataclass(frozen=True, slots=True)
class Buckets:
    """The policies, by names of dimensions; None for powers of two of all that can be padded.
    `fill` and `poisoned` are for tests: what stands in the padding of arguments, and whether all
    other padding is filled with NaN.
    """

    named: Mapping[str, Policy] | None
    fill: float = 0.0
    poisoned: bool = False

    def of(self, name: str) -> Policy | None:
        """The policy of a dimension; a size of a shape, `a[0]`, has the name of the shape too."""
        if self.named is None:
            return Policy()
        return self.named.get(name) or self.named.get(name.partition("[")[0])


def buckets_of(given: Any) -> Buckets:
    """The buckets that a caller asks for."""
    if isinstance(given, Buckets):
        return given
    if given == "auto":
        return Buckets(None)
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentError(f"{given!r} are no buckets: {HOW}")
    return Buckets({name: _policy(name, how) for name, how in given.items()})


def _policy(name: str, given: Any) -> Policy:
    if given == "pow2":
        return Policy()
    if isinstance(given, int) and not isinstance(given, bool) and given >= 1:
        return Policy(multiple=given)
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if listed and all(type(size) is int and size >= 2 for size in listed):
        return Policy(listed=tuple(sorted(set(listed))))
    raise ArgumentError(f"the dimension `{name}` cannot have the buckets {given!r}: {HOW}")


def check_names(buckets: Buckets, known: Sequence[str]) -> None:
    """Each name must be that of a dimension of some definition."""
    for name in buckets.named or ():
        if name not in known:
            listed = ", ".join(f"`{each}`" for each in known) or "none"
            raise ArgumentError(f"no definition has a dimension `{name}`; there are {listed}")
