"""A picture as PNG. The extra `png` draws it: a wheel that needs nothing of the system."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = "a .png needs resvg_py: pip install 'axon-shapes[png]'; a .svg needs nothing"
SCALE = 2.0
MOST_PIXELS = 60_000_000
LONGEST_SIDE = 32_000


def missing() -> bool:
    """Whether the extra is not installed; the check does not load it."""
    if "resvg_py" in sys.modules:
        return sys.modules["resvg_py"] is None
    return find_spec("resvg_py") is None


def png_of(svg: str, width: float, height: float) -> bytes:
    """An SVG of that size, twice as large as on a page unless that is too large to draw."""
    if missing():
        raise ImportError(NEEDED)
    import resvg_py

    scale = min(SCALE, LONGEST_SIDE / max(width, height, 1))
    scale = min(scale, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    drawn = resvg_py.svg_to_bytes(svg_string=svg, width=max(1, int(width * scale)))
    return bytes(drawn)
