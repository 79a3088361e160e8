"""Layers: each node below all that it takes from, and what stands in for long edges.

An edge goes down. Where it crosses layers a dummy node stands for it in each; edges from one output
share them, so that the dummies of an output are one trunk, from which branches lead to the targets.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from axon.pages.drawing import Edge

DUMMIES_EACH = 6
DUMMIES_FREE = 12_000


@dataclass(slots=True)
class Trunk:
    """The edges of one output: dummies by layer, and for each edge the node that it comes from
    last. An edge too long for what dummies there may be comes from the box itself: it is `far`.
    """

    source: int
    output: int
    dummies: list[int] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    far: bool = False


@dataclass(slots=True)
class Layered:
    """Nodes are boxes, then dummies. `above` and `below` are the neighbours of a node in the next
    layers, each with the place along its side.
    """

    boxes: int
    layer: list[int]
    trunks: list[Trunk]
    layers: list[list[int]]
    above: list[list[tuple[int, float]]]
    below: list[list[tuple[int, float]]]

    def is_dummy(self, node: int) -> bool:
        return node >= self.boxes


def layered(count: int, outputs: list[int], edges: list[Edge]) -> Layered:
    """Layers for that many boxes, which have so many outputs."""
    layer = _layers(count, edges)
    groups: dict[tuple[int, int], Trunk] = {}
    for at, edge in enumerate(edges):
        if layer[edge.source] < layer[edge.target]:
            key = edge.source, edge.output
            groups.setdefault(key, Trunk(*key)).edges.append(at)
    trunks = list(groups.values())
    budget = DUMMIES_EACH * count + DUMMIES_FREE
    for trunk in sorted(trunks, key=lambda t: _length(t, layer, edges)):
        budget -= _length(trunk, layer, edges) - 1
        trunk.far = budget < 0
    above: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    below: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    whole = list(layer)
    for trunk in trunks:
        if trunk.far:
            trunk.last = [trunk.source] * len(trunk.edges)
            continue
        side = (trunk.output + 0.5) / max(1, outputs[trunk.source]) - 0.5
        here, at = trunk.source, layer[trunk.source]
        chain = [here]
        for level in range(at + 1, at + _length(trunk, layer, edges)):
            node = len(whole)
            whole.append(level)
            above.append([(here, side)])
            below.append([])
            below[here].append((node, 0.0))
            trunk.dummies.append(node)
            chain.append(node)
            here, side = node, 0.0
        first = (trunk.output + 0.5) / max(1, outputs[trunk.source]) - 0.5
        for number in trunk.edges:
            target = edges[number].target
            last = chain[layer[target] - at - 1]
            trunk.last.append(last)
            above[target].append((last, first if last == trunk.source else 0.0))
            below[last].append((target, 0.0))
    layers: list[list[int]] = [[] for _ in range(max(whole, default=-1) + 1)]
    for node, level in enumerate(whole):
        layers[level].append(node)
    return Layered(count, whole, trunks, layers, above, below)


def _length(trunk: Trunk, layer: list[int], edges: list[Edge]) -> int:
    return max(layer[edges[e].target] for e in trunk.edges) - layer[trunk.source]


def _layers(count: int, edges: list[Edge]) -> list[int]:
    """The longest way from a source; what hangs on inputs alone is moved down to its use."""
    after: list[list[int]] = [[] for _ in range(count)]
    before: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        if edge.source != edge.target:
            after[edge.source].append(edge.target)
            before[edge.target].append(edge.source)
    order = _order(count, after, before)
    rank = {node: at for at, node in enumerate(order)}
    layer = [0] * count
    for node in order:
        for other in before[node]:
            if rank[other] < rank[node]:
                layer[node] = max(layer[node], layer[other] + 1)
    movable = [False] * count
    for node in order:
        movable[node] = all(
            movable[o] and len(set(after[o])) == 1 and rank[o] < rank[node] for o in before[node]
        )
    for node in reversed(order):
        below = [layer[o] for o in after[node] if rank[o] > rank[node]]
        if movable[node] and below:
            layer[node] = min(below) - 1
    low = min(layer, default=0)
    return [level - low for level in layer]


def _order(count: int, after: list[list[int]], before: list[list[int]]) -> list[int]:
    """A topological order; a cycle is cut at its first node."""
    waiting = [len(each) for each in before]
    ready = deque(node for node in range(count) if not waiting[node])
    done = [False] * count
    order: list[int] = []
    following = 0
    while len(order) < count:
        if not ready:
            while done[following]:
                following += 1
            ready.append(following)
        node = ready.popleft()
        if done[node]:
            continue
        done[node] = True
        order.append(node)
        for other in after[node]:
            waiting[other] -= 1
            if waiting[other] == 0 and not done[other]:
                ready.append(other)
    return order
