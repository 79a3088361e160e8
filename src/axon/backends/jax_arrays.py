"""The array namespace on JAX: traceable, so an entire program compiles.

`context` makes the results equal to NumPy's: it enables 64-bit element types. Nothing is set for
the rest of the process, and the precision of products is left to JAX's own settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from axon.backends.bounded import Bounded, Made
from axon.backends.failures import NO_MEMORY
from axon.backends.fusion import Fusion
from axon.backends.jax_fuse import fused_attention
from axon.backends.jax_layers import Stacking
from axon.backends.jax_meanings import BETTER, recomputed
from axon.backends.numpy_arrays import element, lowest, refusal, sliding
from axon.backends.segments.frames import TooLarge
from axon.graph.graph import Function, Graph
from axon.ops import Operator
from axon.ops.arrays import Array, Arrays, Meaning, Pairs, Value, is_integer, wide
from axon.ops.memory import check_fits

XLA_NO_MEMORY = "RESOURCE_EXHAUSTED"


class JaxArrays(Bounded):
    library = jnp
    tracing_errors = (  # a truth value is the first of them
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerArrayConversionError,
        jax.errors.TracerIntegerConversionError,
    )
    by_segments = False
    tiled = True

    def __init__(self, stacking: Stacking | None = None) -> None:
        self.kept: list[Any] = []
        self.layers = stacking

    def failure(self, problem: Exception) -> str | None:
        if isinstance(problem, jax.errors.JaxRuntimeError) and XLA_NO_MEMORY in str(problem):
            return NO_MEMORY
        return refusal(problem)  # constants are made by NumPy

    def memory(self) -> int:
        return _memory()

    def shared(self, function: Callable[..., Value]) -> Callable[..., Value]:
        """Traced, and made part of a program, once for all calls with arguments of the same sizes;
        XLA still inlines it. An argument that is a size itself is known when it is traced.
        """

        def traced(kinds: Any, sizes: tuple[int, ...], arrays: Sequence[Array]) -> Value:
            whole, known, rest = [], iter(sizes), iter(arrays)
            for is_size in kinds.is_size:
                whole.append(next(known) if is_size else next(rest))
            return function(*jax.tree.unflatten(kinds.tree, whole))

        made = jax.jit(traced, static_argnums=(0, 1))
        self.kept.append(made)

        def called(*given: Value) -> Value:
            leaves, tree = jax.tree.flatten(given)
            kinds = _Kinds(tree, tuple([type(leaf) is int for leaf in leaves]))
            sizes = tuple([leaf for leaf in leaves if type(leaf) is int])
            result: Value = made(kinds, sizes, [leaf for leaf in leaves if type(leaf) is not int])
            return result

        return called

    def forget(self) -> None:
        """Drop what has been traced of shared functions."""
        for function in self.kept:
            function.clear_cache()

    def fusions(self, whole: Graph | Function) -> Sequence[Fusion]:
        return list(fused_attention(whole))

    def __getattr__(self, name: str) -> Any:
        found = getattr(jnp, name)
        self.__dict__[name] = found  # cached as an attribute
        return found

    @contextmanager
    def context(self) -> Iterator[None]:
        """The context of tracing and running; constants are made by NumPy, without warnings."""
        with jax.enable_x64(True), np.errstate(all="ignore"):
            yield

    def vectorised(
        self,
        function: Callable[..., Value],
        given: int,
        sizes: tuple[Any, ...],
        rows: int,
        most: int | None = None,
    ) -> Callable[..., Value]:
        """A function on many rows at once, compiled. Its arguments are `given` values that are the
        same for all rows, then the sizes, then a row of each of some arrays. It is `TooLarge` where
        it would make an array of more than `most` bytes.
        """

        def run(*args: Array) -> Value:
            same, each = args[:given], args[given:]
            assert len(each) == rows
            made = jax.vmap(lambda *row: function(*same, *sizes, *row))(*each)
            self._count()
            return made

        function_on_rows: Callable[..., Value] = compiled(run, most=most)
        return function_on_rows

    def spread(self, x: Any, counts: Any, total: int) -> Any:
        """Each element so many times, `total` in all, of the last more; their places where none
        are given.
        """
        library: Any = np if isinstance(counts, np.ndarray) else jnp
        x = library.arange(len(counts)) if x is None else x
        if library is np:
            return np.repeat(x, counts)
        return jnp.repeat(x, counts, total_repeat_length=total)

    def ids(self, offsets: Array, total: int) -> Array:
        """For each of so many elements the row it is in; of those behind the last the count of
        rows. A search is one kernel on a GPU, sums so far are less work for a processor.
        """
        places = jnp.arange(total, dtype=offsets.dtype)

        def summed(ends: Array) -> Array:
            return jnp.zeros(total, jnp.int32).at[ends].add(1, mode="drop").cumsum(dtype=jnp.int32)

        def found(ends: Array) -> Array:
            ids = jnp.searchsorted(ends, places, side="right", method="scan_unrolled")
            return ids.astype(jnp.int32)

        made: Array = lax.platform_dependent(offsets[1:], cpu=summed, default=found)
        return made

    def by_ids(
        self,
        kind: str,
        values: Array,
        ids: Any,
        count: int,
        dtype: Any,
        in_order: bool = True,
    ) -> Array:
        """The elements with the same number, which are side by side if in order, combined."""
        if kind in ("any", "all"):
            truth = values != 0 if kind == "any" else values == 0
            found = self.by_ids("sum", truth.astype(jnp.int32), ids, count, None, in_order) > 0
            return found if kind == "any" else ~found
        if dtype is None and kind in ("sum", "prod"):
            dtype = getattr(jnp, kind)(jnp.zeros(1, values.dtype)).dtype
        values = values if dtype is None else values.astype(dtype)
        combine = getattr(jax.ops, f"segment_{kind}")
        return combine(values, ids, num_segments=count, indices_are_sorted=in_order)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that is compiled for each list of sizes."""

        def run(*args: Any) -> Any:
            made = function(*args)
            self._count()
            return made

        found: Callable[..., Any] = jax.jit(run)
        return found

    def _count(self) -> None:
        """What has been traced is compiled."""
        self.__dict__["traced"] = self.__dict__.get("traced", 0) + 1

    def element(self, name: str) -> Any:
        """The dtype; where 64-bit elements are disabled in JAX, those of 32 bits replace them."""
        narrow = name.replace("64", "32") if not jax.config.values["jax_enable_x64"] else name
        return element(narrow)

    def meaning_of(self, operator: Operator, given: frozenset[str], made: Made) -> Meaning:
        found = BETTER.get(id(operator)) or super().meaning_of(operator, given, made)
        return recomputed(found) if operator.traits.recomputed else found

    def wide_matmul(self, x: Array, y: Array) -> Array:
        if x.dtype != y.dtype and jnp.bfloat16 in (x.dtype, y.dtype):
            x, y = x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)
        if x.dtype != y.dtype or x.dtype.itemsize != 2:
            return jnp.matmul(wide(self, x), wide(self, y))
        # else cotangents, which are f32, would make the products of a derivative those of f32
        precision = lax.DotAlgorithmPreset.BF16_BF16_F32 if x.dtype == jnp.bfloat16 else None
        return jnp.matmul(x, y, precision=precision, preferred_element_type=jnp.float32)

    def stop_gradient(self, x: Array) -> Array:
        return lax.stop_gradient(x)

    def power(self, x: Array, y: Array) -> Array:
        """Of integers by squaring, for exponents of any size; `jnp.power` looks at seven bits."""
        if not is_integer(self, x):
            return jnp.power(x, y)

        def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            base, left, result = state
            return base * base, left >> 1, jnp.where(left & 1 == 1, result * base, result)

        base, left = jnp.broadcast_arrays(x, y)
        state = (base, left, jnp.ones_like(base))
        return lax.while_loop(lambda state: jnp.any(state[1] > 0), step, state)[2]

    def erf(self, x: Array) -> Array:
        return jax.scipy.special.erf(wide(self, jnp.asarray(x))).astype(x.dtype)

    def put(self, x: Array, index: tuple[Any, ...], values: Array, mode: str) -> Array:
        return getattr(jnp.asarray(x).at[index], mode)(jnp.asarray(values, x.dtype))

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
        places = sliding(x, filters.shape[2:], stride, pad, dilation, spread)
        shape = (len(x), len(filters), *places)
        if 0 in (*shape, *filters.shape):
            return jnp.zeros(shape, x.dtype)
        return lax.conv_general_dilated(
            jnp.asarray(x),
            jnp.asarray(filters),
            stride,
            pad,
            lhs_dilation=spread,
            rhs_dilation=dilation,
            feature_group_count=groups,
        )

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
        rest = x.ndim - len(size)
        places = sliding(x, size, stride, pad, dilation)
        seen = wide(self, jnp.asarray(x))
        combine, neutral = (lax.max, lowest(x.dtype)) if kind == "max" else (lax.add, 0)
        if 0 in (*x.shape[:rest], *places, *size):
            return jnp.full((*x.shape[:rest], *places), neutral, x.dtype)
        ones = (1,) * rest
        return lax.reduce_window(
            seen,
            np.asarray(neutral, seen.dtype),
            combine,
            (*ones, *size),
            (*ones, *stride),
            ((0, 0),) * rest + pad,
            window_dilation=(*ones, *dilation),
        ).astype(x.dtype)

    def map(
        self,
        function: Callable[..., Value],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> Value:
        return jax.vmap(function)(*(jnp.asarray(x) for x in rows))

    def loop(
        self,
        state: Value,
        function: Callable[..., tuple[Value, Value]],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> tuple[Value, Value]:
        start = jax.tree.map(jnp.asarray, state)

        def step(state: Value, each: tuple[Array, ...]) -> tuple[Value, Value]:
            after, output = function(state, *each)
            return jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), after, state), output

        return lax.scan(step, start, tuple(jnp.asarray(x) for x in rows))

    def cond(
        self, condition: Array, then: Callable[[], Value], otherwise: Callable[[], Value]
    ) -> Value:
        """Where the condition is known, nothing of the other function is traced."""
        if not isinstance(condition, jax.core.Tracer):
            return then() if condition else otherwise()
        return lax.cond(
            condition,
            lambda: jax.tree.map(jnp.asarray, then()),
            lambda: jax.tree.map(jnp.asarray, otherwise()),
        )

    def iterate(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], Value],
    ) -> Value:
        def step(state: Value) -> Value:
            after = function(state)
            return jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), after, state)

        return lax.while_loop(condition, step, jax.tree.map(jnp.asarray, state))

    def collect(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], tuple[Value, Value]],
    ) -> tuple[Value, Value]:
        """Step by step: the number of rows is not known before."""
        outputs = []
        first = state
        while condition(state):
            state, output = function(state)
            outputs.append(output)
        if outputs:
            return state, jax.tree.map(lambda *rows: jnp.stack(rows), *outputs)
        like = function(first)[1]
        return state, jax.tree.map(lambda row: jnp.zeros((0, *row.shape), row.dtype), like)


@dataclass(frozen=True, slots=True)
class _Kinds:
    """How the arguments of a function lie in each other, and which of them are sizes."""

    tree: Any
    is_size: tuple[bool, ...]


ARRAYS: Arrays = JaxArrays()


def compiled(
    function: Callable[..., Value], sizes: Sequence[int] = (), most: int | None = None
) -> Any:
    """A function that is compiled for each list of argument sizes; the arguments at `sizes` are
    sizes themselves. The memory is checked for intermediate results, too: XLA ends the process
    where there are more elements than it can count. None may have more than `most` bytes.
    """

    def traced(*args: Any) -> Value:
        # a new function each time, so that nothing of it outlives what was compiled
        inner = jax.jit(lambda *given: function(*given), static_argnums=sizes)
        for aval in _made(inner.trace(*args).jaxpr.jaxpr):
            if isinstance(aval, jax.core.ShapedArray):
                check_fits(aval.shape, aval.dtype.itemsize)
                if most is not None and aval.size * aval.dtype.itemsize > most:
                    raise TooLarge("an array of many rows")
        return inner(*args)  # as it was traced

    return jax.jit(traced, static_argnums=sizes)


def _made(jaxpr: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """The abstract values of all results, in nested functions too, once for each function."""
    seen = set() if seen is None else seen
    if id(jaxpr) in seen:
        return
    seen.add(id(jaxpr))
    for equation in jaxpr.eqns:
        yield from (variable.aval for variable in equation.outvars)
        for param in equation.params.values():
            for part in param if isinstance(param, tuple | list) else (param,):
                inside = getattr(part, "jaxpr", part)
                if hasattr(inside, "eqns"):
                    yield from _made(inside, seen)


@cache
def _memory() -> int:
    stats = jax.devices()[0].memory_stats()
    return stats.get("bytes_limit", 0) if stats else 0
