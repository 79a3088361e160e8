"""The namespace for values of rows, with the rules of all modules."""

from __future__ import annotations

from functools import cache
from typing import Any

from axon.backends.segments.arrays import FlatArrays


@cache
def flat_arrays(xp: Any) -> FlatArrays:
    """The namespace for values of rows, over another one."""
    from axon.backends.segments import (  # noqa: F401 (their rules)
        calls,
        iterated,
        joins,
        modules,
        order,
        products,
        tiled,
        windows,
    )

    return FlatArrays(xp)
