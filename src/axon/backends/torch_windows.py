"""Convolutions and windows on PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch
from torch.nn import functional

from axon.backends.numpy_arrays import sliding
from axon.ops.arrays import Array, Pairs

CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}


class TorchWindows:
    """A part of the namespace."""

    kind: Any

    def conv(
        self,
        x: Array,
        filters: Array,
        *,
        stride: tuple[int, ...],
        pad: Pairs,
        dilation: tuple[int, ...],
        groups: int,
        spread: tuple[int, ...],
    ) -> Array:
        window = tuple(filters.shape[2:])
        places = sliding(x, window, stride, pad, dilation, spread)
        shape = (x.shape[0], filters.shape[0], *places)
        if 0 in (*shape, *filters.shape, *x.shape):
            return torch.zeros(shape, dtype=x.dtype, device=x.device)
        function = CONVOLUTIONS.get(len(window)) if x.is_floating_point() else None
        x = _spread(x, spread)
        if function is not None:
            if all(a == b and a >= 0 for a, b in pad):
                around = tuple(a for a, _ in pad)
            else:
                x, around = _pad(x, pad, 0), (0,) * len(pad)
            return function(x, filters, None, stride, around, dilation, groups)
        seen = _windows(_pad(x, pad, 0), window, stride, dilation)
        count = prod(places)
        columns = seen.permute(
            0, 1, *range(2 + len(window), seen.ndim), *range(2, 2 + len(window))
        ).reshape(x.shape[0], groups, -1, count)
        grouped = filters.reshape(groups, filters.shape[0] // groups, -1)
        made = (grouped[None, :, :, :, None] * columns[:, :, None]).sum(3, dtype=x.dtype)
        return made.reshape(shape)

    def windows(
        self,
        kind: str,
        x: Array,
        *,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        pad: Pairs,
        dilation: tuple[int, ...],
    ) -> Array:
        """One axis after another, as max and sum allow."""
        rest = x.ndim - len(size)
        places = sliding(x, size, stride, pad, dilation)
        neutral: Any = 0
        if kind == "max":
            neutral = -torch.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
        if 0 in (*x.shape[:rest], *places, *size):
            shape = (*x.shape[:rest], *places)
            return torch.full(shape, neutral, dtype=x.dtype, device=x.device)
        half = all(a == b and 0 <= 2 * a <= k for (a, b), k in zip(pad, size, strict=True))
        if kind == "max" and rest == 2 and len(size) in (1, 2, 3) and half and _pools(x):
            pool = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)
            around = tuple(a for a, _ in pad)
            return pool[len(size) - 1](x, size, stride, around, dilation)
        made = _pad(x, pad, neutral)
        for i, (k, step, apart) in enumerate(zip(size, stride, dilation, strict=True)):
            axis = rest + i
            seen = made.unfold(axis, apart * (k - 1) + 1, step)[..., ::apart]
            made = seen.amax(-1) if kind == "max" else seen.sum(-1, dtype=x.dtype)
        return made


def _pools(x: Array) -> bool:
    return bool(x.is_floating_point())


def _windows(
    x: Array, window: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Array:
    """The windows in dimensions at the end."""
    first = x.ndim - len(window)
    for i, (k, step, apart) in enumerate(zip(window, stride, dilation, strict=True)):
        x = x.unfold(first + i, apart * (k - 1) + 1, step)[..., ::apart]
    return x


def _spread(x: Array, steps: Sequence[int]) -> Array:
    """Zeros between the elements of the spatial dimensions."""
    if all(step == 1 for step in steps):
        return x
    sizes = [max(0, (n - 1) * step + 1) for n, step in zip(x.shape[2:], steps, strict=True)]
    made = torch.zeros((*x.shape[:2], *sizes), dtype=x.dtype, device=x.device)
    made[(..., *(slice(None, None, step) for step in steps))] = x
    return made


def _pad(x: Array, pad: Pairs, value: Any) -> Array:
    """The value around the last dimensions; a negative pad cuts off."""
    if not any(map(any, pad)):
        return x
    return functional.pad(x, [n for pair in reversed(pad) for n in pair], value=value)
