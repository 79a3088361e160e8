"""Where the nodes of each layer are, from left to right: Brandes and Köpf, "Fast and simple
horizontal coordinate assignment" (2001), with nodes of different widths.

Each node is aligned with a median neighbour, so that chains are straight; edges between dummies
come first. That is done four times, from above and below, from the left and the right, and a node
is put in the middle of its four places.
"""

from __future__ import annotations

import itertools

from axon.pages.layering import Layered

Neighbours = list[list[int]]


def placed(found: Layered, layers: list[list[int]], widths: list[float], gap: float) -> list[float]:
    """The middle of each node, the leftmost edge at 0."""
    count = len(found.layer)
    if not count:
        return []
    place = _places(layers, count)
    above = _neighbours(found.above, place)
    below = _neighbours(found.below, place)
    marked = _conflicts(found, layers, above, place) | _beside(found, above) | _branches(found)
    runs: list[list[float]] = []
    for up in (True, False):
        for left in (True, False):
            rows = layers if up else layers[::-1]
            if not left:
                rows = [row[::-1] for row in rows]
            near = above if up else below
            order = place if left else [-at for at in place]
            root, align = _aligned(rows, near, order, marked, up)
            xs = _compacted(rows, root, align, widths, gap)
            runs.append(xs if left else [-x for x in xs])
    return _balanced(runs, widths)


def _places(layers: list[list[int]], count: int) -> list[int]:
    place = [0] * count
    for row in layers:
        for at, node in enumerate(row):
            place[node] = at
    return place


def _neighbours(sides: list[list[tuple[int, float]]], place: list[int]) -> Neighbours:
    return [
        sorted(dict.fromkeys(other for other, _ in side), key=place.__getitem__) for side in sides
    ]


def _conflicts(
    found: Layered, layers: list[list[int]], above: Neighbours, place: list[int]
) -> set[tuple[int, int]]:
    """Edges that cross one between two dummies: that one stays straight."""
    marked: set[tuple[int, int]] = set()
    for upper, lower in itertools.pairwise(layers):
        start, done = 0, 0
        for at, node in enumerate(lower):
            inner = -1
            if found.is_dummy(node):
                inner = next((o for o in above[node] if found.is_dummy(o)), -1)
            if at == len(lower) - 1 or inner >= 0:
                end = place[inner] if inner >= 0 else len(upper)
                for other in lower[done : at + 1]:
                    for neighbour in above[other]:
                        is_inner = found.is_dummy(other) and found.is_dummy(neighbour)
                        if not is_inner and not start <= place[neighbour] <= end:
                            marked.add((neighbour, other))
                start, done = end, at + 1
    return marked


def _beside(found: Layered, above: Neighbours) -> set[tuple[int, int]]:
    """Edges from inputs and weights to a box that takes something else too: that is above it."""
    return {
        (other, node)
        for node, others in enumerate(above)
        if len(others) > 1 and any(found.above[other] for other in others)
        for other in others
        if not found.above[other]
    }


def _branches(found: Layered) -> set[tuple[int, int]]:
    """Edges that leave a trunk that goes on: the trunk stays straight."""
    return {
        (node, other)
        for node in range(found.boxes, len(found.layer))
        if any(found.is_dummy(other) for other, _ in found.below[node])
        for other, _ in found.below[node]
        if not found.is_dummy(other)
    }


def _aligned(
    rows: list[list[int]],
    near: Neighbours,
    order: list[int],
    marked: set[tuple[int, int]],
    up: bool,
) -> tuple[list[int], list[int]]:
    """Blocks of nodes that share a place: the root of each node, and the next one down."""
    count = len(order)
    root, align = list(range(count)), list(range(count))
    for row in rows[1:]:
        last: float = float("-inf")
        for node in row:
            others = sorted(near[node], key=order.__getitem__)
            if not others:
                continue
            middle = (len(others) - 1) // 2, len(others) // 2
            for at in dict.fromkeys(middle):
                other = others[at]
                pair = (other, node) if up else (node, other)
                if align[node] == node and pair not in marked and last < order[other]:
                    align[other] = node
                    root[node] = root[other]
                    align[node] = root[node]
                    last = order[other]
    return root, align


def _compacted(
    rows: list[list[int]], root: list[int], align: list[int], widths: list[float], gap: float
) -> list[float]:
    """Places of blocks: each as far to the left as its left neighbours allow, then as far to the
    right as the right ones do if that brings it nearer. Blocks in topological order, by a loop.
    """
    after: dict[int, dict[int, float]] = {}
    before: dict[int, dict[int, float]] = {}
    waiting: dict[int, int] = {}
    for row in rows:
        for node in row:
            waiting.setdefault(root[node], 0)
        for one, other in itertools.pairwise(row):
            a, b = root[one], root[other]
            space = (widths[one] + widths[other]) / 2 + gap
            known = after.setdefault(a, {})
            if b not in known:
                waiting[b] += 1
            known[b] = max(known.get(b, 0.0), space)
            before.setdefault(b, {})[a] = known[b]
    ready = [block for block, count in waiting.items() if not count]
    order: list[int] = []
    xs: dict[int, float] = {}
    while ready:
        block = ready.pop()
        order.append(block)
        left = before.get(block, {})
        xs[block] = max((xs[other] + space for other, space in left.items()), default=0.0)
        for other in after.get(block, {}):
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    for block in reversed(order):
        right = after.get(block)
        if right:
            most = min(xs[other] - space for other, space in right.items())
            if most > xs[block]:
                xs[block] = most
    return [xs[each] for each in root]


def _balanced(runs: list[list[float]], widths: list[float]) -> list[float]:
    """The four aligned with the narrowest; the mean of the two in the middle."""
    spans = []
    for xs in runs:
        low = min(x - w / 2 for x, w in zip(xs, widths, strict=True))
        high = max(x + w / 2 for x, w in zip(xs, widths, strict=True))
        spans.append((high - low, low, high))
    narrowest = min(range(len(runs)), key=lambda i: spans[i][0])
    _, low, high = spans[narrowest]
    moved: list[list[float]] = []
    for i, xs in enumerate(runs):
        shift = low - spans[i][1] if i % 2 == 0 else high - spans[i][2]
        moved.append([x + shift for x in xs])
    middle = [(sum(sorted(four)[1:3])) / 2 for four in zip(*moved, strict=True)]
    least = min(x - w / 2 for x, w in zip(middle, widths, strict=True))
    return [x - least for x in middle]
