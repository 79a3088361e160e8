"""Shapes and places on PyTorch: what moves elements, and takes and puts them by index."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import torch
from torch.nn import functional

from axon.backends.torch_unsigned import moved
from axon.ops.arrays import Array
from axon.ops.memory import MOST_DIMENSIONS, check_fits

Axes = int | Sequence[int] | None


class TorchMoves:
    """A part of the namespace."""

    device: Any
    ask: Any
    asarray: Any

    # --- shapes ---

    broadcast_shapes = staticmethod(torch.broadcast_shapes)

    def reshape(self, x: Array, shape: Any) -> Array:
        return x.reshape(shape)

    def swapaxes(self, x: Array, a: int, b: int) -> Array:
        return x.transpose(a, b)

    def transpose(self, x: Array, axes: Sequence[int] | None = None) -> Array:
        return x.permute(tuple(range(x.ndim))[::-1] if axes is None else tuple(axes))

    def moveaxis(self, x: Array, source: int, to: int) -> Array:
        return x.movedim(source, to)

    def expand_dims(self, x: Array, axis: int | Sequence[int]) -> Array:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        rank = x.ndim + len(axes)
        if rank > MOST_DIMENSIONS:
            check_fits((1,) * rank, 1)
        for each in sorted(each % rank for each in axes):
            x = x.unsqueeze(each)
        return x

    def squeeze(self, x: Array, axis: Any = None) -> Array:
        if axis is None:
            return x.squeeze()
        return x.squeeze(axis if isinstance(axis, int) else tuple(axis))

    def broadcast_to(self, x: Array, shape: Sequence[int]) -> Array:
        x = self.asarray(x)
        self.ask(tuple(shape), x.dtype)
        return x.expand(tuple(shape))

    def stack(self, parts: Sequence[Array], axis: int = 0) -> Array:
        return torch.stack(tuple(map(self.asarray, parts)), dim=axis)

    def concatenate(self, parts: Sequence[Array], axis: int = 0) -> Array:
        return torch.cat(tuple(parts), dim=axis)

    def split(self, x: Array, places: Sequence[int], axis: int = 0) -> Any:
        ends = [0, *places, x.shape[axis]]
        return torch.split(x, [b - a for a, b in pairwise(ends)], dim=axis)

    def tile(self, x: Array, reps: Sequence[int]) -> Array:
        rank = max(x.ndim, len(reps))
        sizes = (1,) * (rank - x.ndim) + tuple(x.shape)
        times = (1,) * (rank - len(reps)) + tuple(reps)
        self.ask([n * k for n, k in zip(sizes, times, strict=True)], x.dtype)
        return torch.tile(x, tuple(reps))

    def repeat(self, x: Array, times: int, axis: int) -> Array:
        sizes = list(x.shape)
        sizes[axis] = sizes[axis] * times
        self.ask(sizes, x.dtype)
        return torch.repeat_interleave(x, times, dim=axis)

    def spread(self, x: Array | None, counts: Array, total: int) -> Array:
        """Each element so many times, `total` in all; their places where none are given. The host
        does not wait for the counts.
        """
        places = torch.repeat_interleave(counts, output_size=total)
        return places if x is None else x.index_select(0, places)

    def flip(self, x: Array, axis: Axes = None) -> Array:
        return torch.flip(x, axes_of(x, axis))

    def sliced(self, x: Array, index: tuple[Any, ...]) -> Array:
        """PyTorch has no slices that go backwards."""
        if all(map(_is_forward, index)):
            return x[index]
        for axis, part in enumerate(index):
            if not isinstance(part, slice):
                continue
            numbers = range(x.shape[axis])[part]
            if len(numbers) and numbers.step < 0:
                x = x[(slice(None),) * axis + (slice(numbers[-1], numbers[0] + 1, -numbers.step),)]
                x = x.flip(axis)
            else:
                x = x[(slice(None),) * axis + (slice(numbers.start, numbers.stop, numbers.step)
                       if len(numbers) else slice(0),)]  # fmt: skip
        return x

    def roll(self, x: Array, by: Any, axis: Any) -> Array:
        axes, steps = axes_of(x, axis), (by,) if isinstance(by, int) else tuple(by)
        if axis is None:
            return torch.roll(x.reshape(-1), by % max(prod(x.shape), 1)).reshape(x.shape)
        sizes = [max(x.shape[each], 1) for each in axes]
        return torch.roll(x, [step % n for step, n in zip(steps, sizes, strict=True)], axes)

    def tril(self, x: Array, k: int = 0) -> Array:
        return torch.tril(x, _near(k))

    def triu(self, x: Array, k: int = 0) -> Array:
        return torch.triu(x, _near(k))

    def meshgrid(self, *parts: Array, indexing: str) -> Any:
        return torch.meshgrid(*parts, indexing=indexing)

    def pad(self, x: Array, pairs: Sequence[tuple[int, int]], **how: Any) -> Array:
        mode, constant_values = how.get("mode", "constant"), how.get("constant_values", 0)
        sizes = [n + before + after for n, (before, after) in zip(x.shape, pairs, strict=True)]
        self.ask(sizes, x.dtype)
        if mode != "constant":
            for axis, (before, after) in enumerate(pairs):
                if before or after:
                    x = x.index_select(axis, self._around(x.shape[axis], before, after, mode))
            return x
        if not isinstance(constant_values, torch.Tensor):
            around = [n for pair in reversed(pairs) for n in pair]
            return functional.pad(x, around, value=constant_values)
        places = tuple(
            slice(before, before + n) for n, (before, _) in zip(x.shape, pairs, strict=True)
        )
        made = constant_values.to(x.dtype).expand(sizes).clone()
        made[places] = x
        return made

    def _around(self, n: int, before: int, after: int, mode: str) -> Array:
        """Which of the elements stand in a padded dimension."""
        places = torch.arange(-before, n + after, device=self.device)
        match mode:
            case "edge":
                return places.clamp(0, n - 1)
            case "wrap":
                return places.remainder(n)
            case "reflect":
                if n == 1:
                    return torch.zeros_like(places)
                turn = places.remainder(2 * (n - 1))
                return torch.minimum(turn, 2 * (n - 1) - turn)
            case _:  # symmetric
                turn = places.remainder(2 * n)
                return torch.minimum(turn, 2 * n - 1 - turn)

    # --- by index ---

    def picked(self, x: Array, numbers: Array) -> Array:
        """Rows by number, of any element type."""
        return moved(lambda values: values.index_select(0, numbers), x)

    def take(self, x: Array, numbers: Any, axis: int | None = None) -> Array:
        numbers = self.asarray(numbers)
        if axis is None:
            return x.reshape(-1)[numbers]
        return x[(slice(None),) * (axis % x.ndim) + (numbers,)]

    def take_along_axis(self, x: Array, numbers: Array, axis: int) -> Array:
        n = x.shape[axis]
        seen = torch.where(numbers < 0, numbers + n, numbers)
        axis %= x.ndim
        sizes = [k if i == axis else max(a, k) if 1 in (a, k) else a
                 for i, (a, k) in enumerate(zip(x.shape, seen.shape, strict=True))]  # fmt: skip
        wanted = [x.shape[axis] if i == axis else n for i, n in enumerate(sizes)]
        x = x if list(x.shape) == wanted else x.expand(wanted)
        seen = seen if list(seen.shape) == sizes else seen.expand(sizes)
        return torch.gather(x, axis, seen)

    def nonzero(self, x: Array) -> tuple[Array, ...]:
        found: tuple[Array, ...] = torch.nonzero(x, as_tuple=True)
        return found

    def argsort(self, x: Array, axis: int = -1, stable: bool = True) -> Array:
        return torch.argsort(x, dim=axis, stable=True)

    def lexsort(self, keys: Sequence[Array]) -> Array:
        """The last key first."""
        order = torch.argsort(keys[0], stable=True)
        for key in keys[1:]:
            order = order[torch.argsort(key[order], stable=True)]
        return order

    def put(self, x: Array, index: tuple[Any, ...], values: Array, mode: str) -> Array:
        x, values = self.asarray(x), self.asarray(values).to(x.dtype)
        if not any(isinstance(each, torch.Tensor) for each in index) and mode in ("set", "add"):
            made = x.clone()
            made[index] = values if mode == "set" else x[index] + values
            return made
        spots = torch.arange(prod(x.shape), device=self.device).reshape(x.shape)[index]
        values = values.expand(spots.shape).reshape(-1)
        flat, spots = x.reshape(-1), spots.reshape(-1)
        if mode == "set":
            return flat.scatter(0, spots, values).reshape(x.shape)
        if mode == "add":
            return flat.scatter_add(0, spots, values).reshape(x.shape)
        how = {"mul": "prod", "min": "amin", "max": "amax"}[mode]
        return flat.scatter_reduce(0, spots, values, how).reshape(x.shape)


def axes_of(x: Array, axis: Axes) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _is_forward(part: Any) -> bool:
    if not isinstance(part, slice):
        return True
    bounds = (part.start, part.stop, part.step)
    return (part.step or 1) > 0 and all(n is None or abs(n) < 1 << 62 for n in bounds)


def _near(k: int) -> int:
    """A diagonal, brought in where it is beyond all that a tensor can have."""
    return max(min(k, 1 << 62), -(1 << 62))
