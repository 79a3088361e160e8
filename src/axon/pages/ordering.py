"""The order of the nodes in each layer: few crossings, by barycentres.

A sweep goes down and puts each node where its neighbours above are on average, the next one goes
up. The best order of all sweeps is kept. Large graphs get fewer sweeps.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort

from axon.pages.layering import Layered

MOST_WORK = 400_000
"""Nodes and edges that all sweeps together look at."""
MOST_SWEEPS = 24
COUNTED = 60_000
"""Crossings are counted in graphs of so many nodes and edges."""


def ordered(found: Layered) -> list[list[int]]:
    layers = [list(layer) for layer in found.layers]
    size = len(found.layer) + sum(map(len, found.below))
    sweeps = max(2, min(MOST_SWEEPS, MOST_WORK // max(1, size)))
    _initial(found, layers)
    best, least = [list(layer) for layer in layers], _crossings(found, layers, size)
    for sweep in range(sweeps):
        down = sweep % 2 == 0
        levels = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
        for level in levels:
            _sort(layers, level, level - 1 if down else level + 1, found, down, sweep % 4 >= 2)
        count = _crossings(found, layers, size)
        if count < least or count == -1 or (count == least and sweep < 2):
            best, least = [list(layer) for layer in layers], count
        if least == 0 and sweep >= 2:
            break
    return best


def _initial(found: Layered, layers: list[list[int]]) -> None:
    """Nodes in the order in which a walk down meets them."""
    met: dict[int, int] = {}
    stack = [node for node in range(len(found.layer)) if not found.above[node]]
    stack.sort(key=lambda node: (found.layer[node], node), reverse=True)
    while stack:
        node = stack.pop()
        if node in met:
            continue
        met[node] = len(met)
        stack.extend(other for other, _ in reversed(found.below[node]) if other not in met)
    for layer in layers:
        layer.sort(key=lambda node: met.get(node, node))


def _sort(
    layers: list[list[int]], level: int, fixed: int, found: Layered, down: bool, right: bool
) -> None:
    """Sort a layer by the places of its neighbours in the fixed one. What has none stays."""
    place = {node: float(at) for at, node in enumerate(layers[fixed])}
    sides = found.above if down else found.below
    layer = layers[level]
    weights: dict[int, float] = {}
    for node in layer:
        near = [place[other] + side for other, side in sides[node] if other in place]
        if near:
            weights[node] = sum(near) / len(near)
    kept = [node for node in layer if node in weights]
    back = {node: -at if right else at for at, node in enumerate(layer)}
    kept.sort(key=lambda node: (weights[node], back[node]))
    following = iter(kept)
    layers[level] = [next(following) if node in weights else node for node in layer]


def _crossings(found: Layered, layers: list[list[int]], size: int) -> int:
    """How many pairs of edges cross; -1 if there are too many to count."""
    if size > COUNTED:
        return -1
    total = 0
    for upper, lower in itertools.pairwise(layers):
        place = {node: at for at, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(place[other] for other, _ in found.below[node] if other in place)
            for end in ends:
                total += len(seen) - bisect_left(seen, end + 1)
            for end in ends:
                insort(seen, end)
    return total
