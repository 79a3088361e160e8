"""How a backend computes, beside which one it is: what `Program.on` takes by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`compiled` is for PyTorch: programs go through `torch.compile`. `cache` is for JAX: a folder
    for what it has compiled, of which the next process need compile nothing again.
    """

    compiled: bool = False
    cache: str | None = None

    def check(self, backend: str) -> None:
        """Raise a `ValueError` where a backend has no such option."""
        if self.compiled and backend != "torch":
            raise ValueError(f"compiled=True is for the backend 'torch', not for {backend!r}")
        if self.cache is not None and backend != "jax":
            raise ValueError(f"cache=… is for the backend 'jax', not for {backend!r}")


DEFAULT = Options()
