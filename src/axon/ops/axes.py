"""Shapes with an axis picked out, as text: what every rule with an `axis` attribute needs.

An axis counts from the front (0, 1, …) or from the back (-1, -2, …), so a rule never needs the
rank:

    at(0, "n")  is  [n]@s            at(-1, "n")  is  s@[n]
    at(1, "n")  is  [d0,n]@s         at(-2, "n")  is  s@[n,e1]

What stands behind an axis that an operator removes is called `after` (a shape) and `after1`,
`after2`, … (single dimensions, counted from the back; `after_1` between two such axes): inference
asks of these that they do not vary inside the tensor. Dimensions that an operator works along
together are called `along0`, `along1`, …: it has no rows along them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from axon.ops.operator import Ints, Problem

LIMIT = 64
"""The most dimensions that a signature spells out."""


def bad_axes(axes: Ints) -> Problem | None:
    """The error in a list of axes, whatever the rank is."""
    for axis in axes:
        if not -LIMIT <= axis < LIMIT:
            return Problem(f"the axis {axis} is too far out: from -{LIMIT} to {LIMIT - 1} is fine")
    if len(set(axes)) < len(axes):
        return Problem("the same axis is given twice")
    front, back = _ends(axes)
    if front and back and len(front) <= max(front) and len(back) < -min(back):
        return Problem(
            "these axes count from both ends and leave gaps at both, so their order depends on "
            "the rank; count them all from one end"
        )
    return None


def _ends(axes: Ints) -> tuple[Ints, Ints]:
    return tuple(a for a in axes if a >= 0), tuple(a for a in axes if a < 0)


def place(axes: Ints, items: Sequence[str], tail: str = "s") -> str:
    """The shape whose dimensions at `axes` are `items`; an empty item leaves that axis out.

    Exact for every rank: if the front or the back axes have no gap, a shape too short to hold both
    ends has an axis that is named twice.
    """
    given = dict(zip(axes, items, strict=True))
    front, back = _ends(axes)
    first = min(front, default=0)
    leading = [
        given.get(i, f"d{i}" if i < first or tail == "s" else f"{tail}_{i}")
        for i in range(max(front, default=-1) + 1)
    ]
    middle = tail if front else "s"
    trailing = [given.get(-i, _behind(tail, i)) for i in range(-min(back, default=0), 0, -1)]
    return append(dims(leading), middle, dims(trailing))


def at(axis: int, *items: str, tail: str = "s") -> str:
    """The shape with these dimensions in the place of one axis: none removes it, two insert one."""
    return place((axis,), (",".join(items),), tail)


def around(axis: int, tail: str = "s") -> tuple[str, str]:
    """The shapes before and behind an axis."""
    if axis >= 0:
        return dims([f"d{i}" for i in range(axis)]), tail
    return "s", dims([_behind(tail, i) for i in range(-axis - 1, 0, -1)])


def _behind(tail: str, distance: int) -> str:
    return f"e{distance}" if tail == "s" else f"{tail}{distance}"


def dims(items: Iterable[str]) -> str:
    return f"[{','.join(item for item in items if item)}]"


def append(*parts: str) -> str:
    """Shapes appended; `[a]@[b]` is written `[a,b]`, and an empty part is left out."""
    words: list[str] = []
    for part in parts:
        if part == "[]":
            continue
        if words and words[-1].endswith("]") and part.startswith("["):
            words[-1] = f"{words[-1][:-1]},{part[1:]}"
        else:
            words.append(part)
    return "@".join(words) or "[]"


def shift(text: str, constant: int) -> str:
    """`text + constant`: `h-r` and 1 give `h-r+1`."""
    return text if constant == 0 else f"{text}{constant:+d}"
