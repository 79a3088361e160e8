"""The buckets that a caller asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from operator import index
from typing import Any

import numpy

from axon.backends.buckets import Buckets, Policy
from axon.run.errors import ArgumentError

HOW = (
    'buckets are "pow2", a number whose multiples they are, or a list of sizes: '
    'buckets={"n": "pow2", "b": 8, "m": [128, 256, 512]}, or buckets="auto"'
)


MOST_LISTED = 10_000


def buckets_of(given: Any) -> Buckets:
    """The buckets that a caller asks for."""
    if isinstance(given, Buckets):
        return given
    if isinstance(given, str) and given == "auto":
        return Buckets(None)
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentError(f"{given!r} are no buckets: {HOW}")
    return Buckets({name: _policy(name, how) for name, how in given.items()})


def _policy(name: str, given: Any) -> Policy:
    if isinstance(given, numpy.ndarray):
        given = given.tolist()
    if isinstance(given, str) and given == "pow2":
        return Policy()
    multiple = _whole(given)
    if multiple >= 1:
        return Policy(multiple=multiple)
    many = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    listed = [*map(_whole, islice(given, MOST_LISTED + 1))] if many else []
    if len(listed) > MOST_LISTED:
        raise ArgumentError(f"the dimension `{name}` has more than {MOST_LISTED} buckets")
    if listed and min(listed) >= 2:
        return Policy(listed=tuple(sorted(set(listed))))
    raise ArgumentError(f"the dimension `{name}` cannot have the buckets {given!r}: {HOW}")


def _whole(given: Any) -> int:
    """A whole number, of Python or of NumPy; 0 where it is none."""
    try:
        return 0 if isinstance(given, bool) else index(given)
    except TypeError:
        return 0


def check_dimensions(buckets: Buckets, known: Sequence[str]) -> None:
    """Each name must be that of a dimension of some definition."""
    for name in buckets.named or ():
        if name not in known:
            listed = ", ".join(f"`{each}`" for each in known) or "none"
            raise ArgumentError(f"no definition has a dimension `{name}`; there are {listed}")
