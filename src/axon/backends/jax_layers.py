"""Runs of layers on JAX: one loop over weights that are stacked in the program, so that XLA
compiles one layer.

What is stacked, must have equal sizes and element types, and a state those that it had. They are
known when JAX traces: where they differ, a run is divided, and a layer that has no like is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from axon.backends.layers import Layers, Structure
from axon.graph.layer_runs import SHORTEST

Arrays = Sequence[Any]


class Stacking:
    """The runs of a program; `told` says what became of those that were traced."""

    def __init__(self) -> None:
        self._told: dict[str, dict[Layers, str]] = {}

    def run(self, layers: Layers) -> Callable[..., tuple[Any, ...]]:
        def traced(function: Callable[..., Any], *given: Arrays) -> tuple[Any, ...]:
            results, loops = _computed(layers, function, given)
            self._told.setdefault(layers.root, {})[layers] = _text(layers, len(given), loops)
            return tuple([
                _built(layers.result, [x if at in wanted else None for at, x in enumerate(found)])
                for found, wanted in ((results[i], wanted) for i, wanted in layers.wanted)
            ])  # fmt: skip

        return traced

    def told(self, root: str) -> tuple[str, ...]:
        """What became of the runs of a definition."""
        return tuple(dict.fromkeys(self._told.get(root, {}).values()))


def _computed(
    layers: Layers, function: Callable[..., Any], given: Sequence[Arrays]
) -> tuple[list[Arrays], list[int]]:
    """The results of the calls, by leaves, and how many calls each loop stands for."""
    carried = [at for at, _ in layers.state]
    after = [at for _, at in layers.state]
    differ = [at for at in range(len(given[0])) if at not in layers.same and at not in carried]
    wanted = dict(layers.wanted)

    def one(state: Arrays, row: Arrays) -> list[Any]:
        operands = list(given[0])
        for at, x in (*zip(carried, state, strict=True), *zip(differ, row, strict=True)):
            operands[at] = x
        return _leaves(function(*_built(layers.operands, operands)))

    state: Arrays = [jnp.asarray(given[0][at]) for at in carried]
    rows = [[each[at] for at in differ] for each in given]
    results: list[Arrays] = []
    loops: list[int] = []
    while len(results) < len(rows):
        at = len(results)
        like = _types(rows[at])
        stop = at + 1
        while stop < len(rows) and _types(rows[stop]) == like:
            stop += 1
        if stop - at >= SHORTEST and _is_steady(one, state, rows[at], after):
            kept = sorted({
                leaf
                for i in range(at, stop)
                for leaf in wanted.get(i, ())
                if i + 1 < stop or leaf not in after
            })  # fmt: skip
            results += _loop(one, state, rows[at:stop], after, kept)
            loops.append(stop - at)
        else:
            results.append(one(state, rows[at]))
        state = [results[-1][leaf] for leaf in after]
    return results, loops


def _loop(
    one: Callable[[Arrays, Arrays], list[Any]],
    state: Arrays,
    rows: Sequence[Arrays],
    after: Sequence[int],
    kept: Sequence[int],
) -> list[Arrays]:
    """The results of some calls, computed by one loop: those leaves that are kept of each, and the
    state after the last.
    """
    size = 0

    def step(state: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        nonlocal size
        found = [jnp.asarray(x) for x in one(state, row)]
        size = len(found)
        new = [found[at].astype(x.dtype) for at, x in zip(after, state, strict=True)]
        return new, [found[at] for at in kept]

    stacked = [_stacked(each) for each in zip(*rows, strict=True)]
    last, outputs = lax.scan(step, list(state), stacked, length=len(rows))
    results: list[list[Any]] = [[None] * size for _ in rows]
    for at, output in zip(kept, outputs, strict=True):
        for result, each in zip(results, jnp.unstack(output), strict=True):
            result[at] = each
    for at, x in zip(after, last, strict=True):
        results[-1][at] = x
    return list(results)


def _stacked(rows: Arrays) -> Any:
    """What is known when JAX traces, such as the weights of an imported model, is stacked then."""
    if any(isinstance(x, jax.core.Tracer) for x in rows):
        return jnp.stack(rows)
    with jax.ensure_compile_time_eval():
        return jnp.stack([jnp.asarray(x) for x in rows])


def _is_steady(
    one: Callable[[Arrays, Arrays], list[Any]], state: Arrays, row: Arrays, after: Sequence[int]
) -> bool:
    """Whether a call gives a state of the same sizes and element types."""
    found = jax.make_jaxpr(one)(state, row).out_avals
    return [found[at].strip_weak_type() for at in after] == _types(state)


def _types(values: Arrays) -> list[Any]:
    return [jax.typeof(x).strip_weak_type() for x in values]


def _built(whole: Structure, leaves: Arrays) -> Any:
    if isinstance(whole, int):
        return leaves[whole]
    return tuple([_built(part, leaves) for part in whole])


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def _text(layers: Layers, calls: int, loops: Sequence[int]) -> str:
    first, last = layers.lines
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    stacked = sum(loops)
    if not loops:
        return f"{where}: {layers.called}: {calls} calls, of sizes that cannot be stacked"
    what = f"{calls} calls" if stacked == calls else f"{stacked} of {calls} calls"
    many = "one loop" if len(loops) == 1 else f"{len(loops)} loops"
    return f"{where}: {layers.called}: {what} in {many}"
