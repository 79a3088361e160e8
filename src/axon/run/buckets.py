"""The buckets that a caller asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axon.backends.buckets import Buckets, Policy
from axon.run.errors import ArgumentError

HOW = (
    'buckets are "pow2", a number whose multiples they are, or a list of sizes: '
    'buckets={"n": "pow2", "b": 8, "m": [128, 256, 512]}, or buckets="auto"'
)


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


def check_dimensions(buckets: Buckets, known: Sequence[str]) -> None:
    """Each name must be that of a dimension of some definition."""
    for name in buckets.named or ():
        if name not in known:
            listed = ", ".join(f"`{each}`" for each in known) or "none"
            raise ArgumentError(f"no definition has a dimension `{name}`; there are {listed}")
