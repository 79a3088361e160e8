"""Which sizes of the rows of a result vary, by its levels."""

from __future__ import annotations

from typing import Any

from axon.backends.ragged import Varying
from axon.ops.levels import LevelTree, depth


def which(levels: LevelTree, level: int = 0) -> Any:
    """Which sizes of the rows vary, in a tensor inside so many dimensions of the result."""
    if isinstance(levels, list):
        return tuple(which(part, level) for part in levels)
    sizes = tuple(depth(over) > level for over in levels[level + 1 :])
    return Varying(sizes) if any(sizes) else None
