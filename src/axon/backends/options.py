"""How a backend computes, beside which one it is: what `Program.on` takes by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axon.backends.buckets import Buckets
from axon.backends.meshes import Mesh, Shard


@dataclass(frozen=True, slots=True)
class Options:
    """`compiled` is for PyTorch: programs go through `torch.compile`. `cache` is for JAX: a folder
    for what it has compiled, of which the next process need compile nothing again. `mesh` and
    `shard` are for JAX too: devices, and which sizes are cut along which of their axes; and so are
    `buckets`: the sizes that dimensions are padded to, and `stack_layers`: layers that follow each
    other are one loop.
    """

    compiled: bool = False
    cache: str | None = None
    mesh: Mesh = ()
    shard: Shard = ()
    buckets: Buckets | None = None
    stack_layers: bool = False

    def check(self, backend: str) -> None:
        """Raise a `ValueError` where a backend has no such option."""
        if not isinstance(self.compiled, bool):
            raise ValueError(f"compiled= is True or False, and not {self.compiled!r}")
        if self.compiled and backend != "torch":
            raise ValueError(f"compiled=True is for the backend 'torch', not for {backend!r}")
        if self.cache is not None and backend != "jax":
            raise ValueError(f"cache=… is for the backend 'jax', not for {backend!r}")
        if (self.mesh or self.shard) and backend != "jax":
            raise ValueError(f"mesh= and shard= are for the backend 'jax', not for {backend!r}")
        if self.buckets is not None and backend != "jax":
            raise ValueError(f"buckets=… are for the backend 'jax', not for {backend!r}")
        if not isinstance(self.stack_layers, bool):
            raise ValueError(f"stack_layers= is True or False, and not {self.stack_layers!r}")
        if self.stack_layers and backend != "jax":
            raise ValueError(f"stack_layers=True is for the backend 'jax', not for {backend!r}")


def folder_of(cache: Any) -> str:
    """The folder for the cache, as a text; it may be given as a path."""
    if not isinstance(cache, str | Path) or not str(cache):
        raise ValueError(f"cache= is the path of a folder, and not {cache!r}")
    return str(cache)


DEFAULT = Options()
