"""How a program is put on a backend: what `load`, `compile` and `on` take beside its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

Mesh = tuple[tuple[str, int], ...]
"""The axes of a mesh of devices, with their sizes."""
Shard = tuple[tuple[str, tuple[str, ...]], ...]
"""Sizes as they are written, and the axes that cut each."""


@dataclass(frozen=True, slots=True)
class Options:
    """`compiled` is for PyTorch, the others are for JAX."""

    compiled: bool = False
    mesh: Mesh = ()
    shard: Shard = ()


def options(
    backend: str,
    compiled: bool = False,
    mesh: Mapping[str, int] | None = None,
    shard: Mapping[str, str | Sequence[str]] | None = None,
) -> Options:
    """The options of a backend; `ValueError` says what is wrong with them."""
    if compiled and backend != "torch":
        raise ValueError(f"compiled=True is for the backend 'torch', not for {backend!r}")
    if mesh is None and shard is None:
        return Options(compiled)
    if backend != "jax":
        raise ValueError(f"mesh= and shard= are for the backend 'jax', not for {backend!r}")
    if mesh is None or shard is None:
        missing = "mesh" if mesh is None else "shard"
        example = '{"data": 4}' if mesh is None else '{"b": "data"}'
        raise ValueError(f"mesh= and shard= belong together: say {missing} too, as in {example}")
    axes = mesh_of(mesh)
    return Options(compiled, axes, _shard_of(shard, dict(axes)))


def mesh_of(mesh: Any) -> Mesh:
    if not (isinstance(mesh, Mapping) and mesh):
        raise ValueError('mesh= is a dict of sizes by the names of axes, as in {"data": 4}')
    found: list[tuple[str, int]] = []
    for name, size in mesh.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"an axis of a mesh has a name, and {name!r} is none")
        try:
            number = index(size)
        except TypeError:
            number = 0
        if number < 1:
            raise ValueError(f"the axis `{name}` of a mesh has a size of 1 or more, not {size!r}")
        found.append((name, number))
    return tuple(found)


def _shard_of(shard: Any, mesh: Mapping[str, int]) -> Shard:
    if not isinstance(shard, Mapping):
        raise ValueError('shard= is a dict of axes by sizes, as in {"b": "data"}')
    found: list[tuple[str, tuple[str, ...]]] = []
    for size, cut in shard.items():
        axes = (cut,) if isinstance(cut, str) else tuple(cut)
        if not isinstance(size, str):
            raise ValueError(f"shard= has sizes as they are written, and {size!r} is no text")
        for axis in axes:
            if axis not in mesh:
                listed = ", ".join(f"`{name}`" for name in mesh)
                raise ValueError(f"shard: the mesh has no axis {axis!r}: it has {listed}")
        if not axes:
            raise ValueError(f"shard: no axis is said for `{size}`")
        if len(set(axes)) < len(axes):
            raise ValueError(f"shard: an axis cuts `{size}` twice: {', '.join(axes)}")
        found.append((size, axes))
    return tuple(found)
