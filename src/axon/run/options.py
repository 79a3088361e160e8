"""What a caller may ask of a backend, besides its name."""

from __future__ import annotations

from dataclasses import dataclass

from axon.run.buckets import Buckets


@dataclass(frozen=True, slots=True)
class Options:
    """`compiled` is for PyTorch, `buckets` are for JAX."""

    compiled: bool = False
    buckets: Buckets | None = None

    def check(self, name: str) -> None:
        """Each option is for one backend."""
        if self.compiled and name != "torch":
            raise ValueError(f"compiled=True is for the backend 'torch', not for {name!r}")
        if self.buckets is not None and name != "jax":
            raise ValueError(f"buckets=… are for the backend 'jax', not for {name!r}")


PLAIN = Options()
