"""The least and the greatest of sizes that may differ from row to row."""

from __future__ import annotations

from typing import Any

import numpy

from axon.backends import row_sizes
from axon.backends.segments.frames import Counts


def least(*parts: Any) -> Any:
    """`min`, of sizes that may differ from row to row."""
    return _extreme(numpy.minimum, parts) if _some(parts) else row_sizes.least(*parts)


def greatest(*parts: Any) -> Any:
    return _extreme(numpy.maximum, parts) if _some(parts) else row_sizes.greatest(*parts)


def _some(parts: Any) -> bool:
    return any(isinstance(part, Counts) for part in parts)


def _extreme(how: Any, parts: Any) -> Counts:
    found = next(part for part in parts if isinstance(part, Counts))
    for part in parts:
        found = found if part is found else found.made(how, found, part)
    return found
