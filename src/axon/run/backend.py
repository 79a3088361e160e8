"""What a function asks of a backend, and the backends by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from axon.backends.coder import Externs, Watcher
from axon.backends.meshes import Mesh, Shard
from axon.backends.options import DEFAULT, Options
from axon.graph.graph import Graph
from axon.graph.sharding import CannotShard, Placement, Rule, Tree
from axon.run.errors import ArgumentError
from axon.types.type import Type


class OnMesh(Protocol):
    """What a backend does on a mesh of devices."""

    axes: Mesh
    shard: Shard

    def placed(
        self, types: Sequence[Type], trees: Sequence[Tree | None], args: Sequence[Any]
    ) -> list[Any]: ...

    def put_all(
        self, types: Sequence[Type], trees: Sequence[Tree | None], args: Sequence[Any]
    ) -> list[Any]: ...

    def parts(self, rule: Rule) -> int: ...

    def prepare(
        self, graph: Graph, externs: Externs, placement: Placement
    ) -> Callable[..., Any]: ...

    def traceable(
        self, graph: Graph, externs: Externs, placement: Placement
    ) -> Callable[..., Any]: ...

    def traced_once(
        self, graph: Graph, externs: Externs, placement: Placement
    ) -> Callable[..., Any]: ...


class Backend(Protocol):
    name: str
    options: Options
    native: frozenset[str]
    """The libraries of arguments for which a result needs no conversion."""

    @property
    def sharding(self) -> OnMesh | None: ...

    @property
    def compilations(self) -> int: ...

    def stacked_layers(self, name: str) -> tuple[str, ...]:
        """What became of the layers of a definition, where they are stacked."""

    def prepare(
        self, graph: Graph, externs: Externs, watcher: Watcher | None = None
    ) -> Callable[..., Any]: ...

    def traceable(self, graph: Graph, externs: Externs) -> Callable[..., Any]: ...

    def placing(self, arrays: Sequence[Any]) -> Callable[[Any], Any] | None:
        """What makes an array one that this backend computes with; None where all of them are."""

    def returned(self, result: Any, library: str | None, args: Sequence[Any]) -> Any:
        """A result as an array of the library that the arguments were of."""

    def failure(self, problem: Exception) -> str | None:
        """The reason, where an exception of the library means that there is one in the values or
        the sizes.
        """


def backend(name: str, options: Options = DEFAULT) -> Backend:
    """A backend by name, `numpy`, `jax` or `torch`, with options that are its own."""
    options.check(name)
    made = _backend(name, options)
    made.options = options
    return made


def _backend(name: str, options: Options) -> Backend:
    if name == "numpy":
        from axon.backends.numpy_backend import NumpyBackend

        return NumpyBackend()
    if name == "jax":
        try:
            from axon.backends.jax_backend import JaxBackend
        except ImportError:
            raise ImportError("the JAX backend needs jax: pip install 'axon-shapes[jax]'") from None
        if options.cache is not None:
            from axon.backends.jax_cache import Unusable, keep_in

            try:
                keep_in(options.cache)
            except Unusable as problem:
                raise ArgumentError(str(problem)) from None
        try:
            return JaxBackend(
                options.mesh, options.shard, options.buckets is not None, options.stack_layers
            )
        except CannotShard as problem:
            raise ValueError(f"mesh: {problem}") from None
    if name == "torch":
        try:
            from axon.backends.torch_backend import TorchBackend
        except ImportError:
            raise ImportError(
                "the PyTorch backend needs torch: pip install 'axon-shapes[torch]'"
            ) from None
        return TorchBackend(options.compiled)
    raise ValueError(f"there is no backend {name!r}: there are 'numpy', 'jax' and 'torch'")
