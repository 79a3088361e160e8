"""Meshes of devices, and which sizes are cut along their axes, as a caller says them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

Mesh = tuple[tuple[str, int], ...]
"""The axes of a mesh of devices, with their sizes."""
Shard = tuple[tuple[str, tuple[str, ...]], ...]
"""Sizes as they are written, and the axes that cut each."""


def mesh_of(mesh: Any) -> Mesh:
    """A mesh from a dict; `ValueError` says what is wrong with it."""
    if not (isinstance(mesh, Mapping) and mesh):
        raise ValueError('mesh= is a dict of sizes by the names of axes, as in {"data": 4}')
    found: list[tuple[str, int]] = []
    for name, size in mesh.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"an axis of a mesh has a name, and {name!r} is none")
        try:
            number = 0 if isinstance(size, bool) else index(size)
        except TypeError:
            number = 0
        if number < 1:
            raise ValueError(f"the axis `{name}` of a mesh has a size of 1 or more, not {size!r}")
        found.append((name, number))
    return tuple(found)


def shard_of(shard: Any, mesh: Mesh) -> Shard:
    """Which axes of the mesh cut which sizes, from a dict."""
    if not isinstance(shard, Mapping):
        raise ValueError('shard= is a dict of axes by sizes, as in {"b": "data"}')
    if shard and not mesh:
        raise ValueError('shard= needs a mesh, whose axes it names: mesh={"data": 4}')
    known = dict(mesh)
    found: list[tuple[str, tuple[str, ...]]] = []
    for size, cut in shard.items():
        if not isinstance(size, str):
            raise ValueError(f"shard= has sizes as they are written, and {size!r} is no text")
        axes = (cut,) if isinstance(cut, str) else cut
        axes = tuple(axes) if isinstance(axes, tuple | list) else ()
        if not axes:
            raise ValueError(f"shard: no axis is given for `{size}`")
        for axis in axes:
            if axis not in known:
                listed = ", ".join(f"`{name}`" for name in known)
                raise ValueError(f"shard: the mesh has no axis {axis!r}: it has {listed}")
        if len(set(axes)) < len(axes):
            raise ValueError(f"shard: an axis cuts `{size}` twice: {', '.join(axes)}")
        found.append((size, axes))
    return tuple(found)
