"""The type of a state that is carried through a loop, as text; some of its sizes may change.

A state is one value or a tuple of parts. The sizes that change are stated by axes, or for a tuple
by pairs of a part and an axis of it. Before the first iteration such a size is known (`n`); an
iteration receives one that is known only there (`?k`), and makes another; after the last iteration
the run knows it.
"""

from __future__ import annotations

from axon.ops.axes import LIMIT, append, dims
from axon.ops.operator import Ints, Problem

MOST_PARTS = 256


def bad_state(differ: Ints, parts: int) -> Problem | None:
    """The error in the axes along which a state changes."""
    if not 1 <= parts <= MOST_PARTS:
        return Problem(f"a state has from 1 to {MOST_PARTS} parts")
    if parts > 1 and len(differ) % 2:
        return Problem("for a state of several parts, `differ` lists pairs: a part, and an axis")
    pairs = _pairs(differ, parts)
    if not all(0 <= part < parts for part, _ in pairs):
        return Problem(f"the parts of this state are counted from 0 to {parts - 1}")
    if not all(0 <= axis < LIMIT for _, axis in pairs):
        return Problem(f"an axis of a state is counted from the front, from 0 to {LIMIT - 1}")
    if len(set(pairs)) < len(pairs):
        return Problem("the same axis is given twice")
    return None


def state_type(name: str, differ: Ints, parts: int) -> str:
    """The type of a state whose changing sizes have this name, each with a number behind it."""
    if not differ:
        return "state"
    axes: dict[int, list[int]] = {}
    for part, axis in _pairs(differ, parts):
        axes.setdefault(part, []).append(axis)
    each = [_part(name, i, axes.get(i, [])) for i in range(parts)]
    return each[0] if parts == 1 else f"({', '.join(each)})"


def _pairs(differ: Ints, parts: int) -> list[tuple[int, int]]:
    if parts == 1:
        return [(0, axis) for axis in differ]
    return list(zip(differ[::2], differ[1::2], strict=False))


def _part(name: str, number: int, axes: list[int]) -> str:
    if not axes:
        return f"state{number}"
    sizes = [
        f"{name}{number}_{axis}" if axis in axes else f"d{number}_{axis}"
        for axis in range(max(axes) + 1)
    ]
    return f"v{number} {append(dims(sizes), f'rest{number}')}"
