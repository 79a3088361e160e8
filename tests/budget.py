"""How many examples a property gets: all that the profile in `conftest.py` allows, or a share."""

from __future__ import annotations

from hypothesis import settings


def share(part: float) -> settings:
    allowed = settings.default
    assert allowed is not None
    return settings(max_examples=max(10, int(allowed.max_examples * part)))


ALL = share(1)
HALF = share(1 / 2)
QUARTER = share(1 / 4)
EIGHTH = share(1 / 8)
